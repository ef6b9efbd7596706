import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { configuration } from './configuration.ts';
import { assembleToolPool } from '../../../src/pool/assemble.ts';
import { toolInFull, toolList, type ListVariant } from '../../../src/pool/tool-list.ts';
import { mcpTool, plainTool } from '../../helpers/plain-tool.ts';
import type { Tool } from '../../../src/tool/tool.ts';

const schema = z.strictObject({ count: z.number().default(1).describe('How often') });
const base = [
  plainTool('Bash', { inputSchema: schema, maxResultSizeChars: Infinity }),
  plainTool('Off', { isEnabled: () => false, disabledReason: () => 'no engine is configured' }),
];
const remote = mcpTool('s', 't', {
  prompt: () => 'é'.repeat(300),
  isReadOnly: () => true,
  inputJSONSchema: { $schema: 'https://json-schema.org/draft-07/schema', type: 'object' },
});

function list(variant: Partial<ListVariant> = {}, external: readonly Tool[] = [remote]) {
  const pool = assembleToolPool({ toolMode: 'normal' }, base, external, configuration);
  return toolList(pool, { format: 'anthropic', schemas: 'by deferral', ...variant });
}

const parsed = (variant: Partial<ListVariant> = {}) => JSON.parse(list(variant).body.toString());

describe('the default list', () => {
  test('an entry is an Anthropic definition, a default makes no field required', () => {
    const [bash] = parsed().tools;
    expect(Object.keys(bash)).toEqual(['name', 'description', 'input_schema']);
    expect(bash.input_schema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(bash.input_schema.required).toBeUndefined();
    expect(bash.input_schema.$schema).toBeUndefined();
  });

  test('a deferred entry has 200 characters and no schema', () => {
    const entry = parsed().tools[1];
    expect(entry).toEqual({ name: 'mcp__s__t', description: `${'é'.repeat(199)}…`, defer_loading: true });
    expect(parsed()).toMatchObject({ built_in_count: 1, mcp_count: 1, deferred_count: 1 });
  });

  test('servers that come and go leave the bytes of the prefix alone', () => {
    const [without, with_] = [list({}, []).body.toString(), list().body.toString()];
    const prefix = without.slice(0, without.indexOf('],"built_in_count"'));
    expect(with_.startsWith(`${prefix},`)).toBe(true);
    expect(JSON.parse(without).prefix_sha256).toBe(JSON.parse(with_).prefix_sha256);
  });

  test('a client can compute the identity of the prefix', () => {
    const { tools, built_in_count: count, prefix_sha256: identity } = parsed();
    const text = JSON.stringify(tools.slice(0, count));
    expect(createHash('sha256').update(text).digest('hex')).toBe(identity);
  });
});

describe('a definition', () => {
  const poolOf = (tools: readonly Tool[], cwd?: string) =>
    assembleToolPool({ toolMode: 'normal', ...(cwd !== undefined && { cwd }) }, base, tools, configuration);

  test('of an MCP tool is rendered once for each form, whatever the list selects', () => {
    let count = 0;
    const tool = mcpTool('s', 'counted', { prompt: () => `Rendered ${(count += 1)} times` });
    const form = { format: 'anthropic', schemas: 'full' } as const;
    const bodies = [poolOf([tool]), poolOf([tool])].flatMap((pool) => [
      toolList(pool, form).body.toString(),
      toolList(pool, { ...form, names: [tool.name] }).body.toString(),
      toolList(pool, { ...form, max: 5 }).body.toString(),
    ]);
    expect(bodies.every((body) => body.includes('Rendered 1 times'))).toBe(true);
    expect(toolList(poolOf([tool]), { format: 'gemini', schemas: 'full' }).body.toString()).toContain(
      'Rendered 2 times',
    );
  });

  test('whose words depend on the session is never shown to another', () => {
    const tool = plainTool('Local', { prompt: ({ cwd }) => `Works in ${cwd}` });
    const shown = ['/one', '/two', '/one'].map((cwd) =>
      toolList(poolOf([tool], cwd), { format: 'anthropic', schemas: 'full', names: ['Local'] }).body.toString(),
    );
    expect(shown.map((body) => /Works in (\/\w+)/.exec(body)?.[1])).toEqual(['/one', '/two', '/one']);
  });
});

describe('other variants', () => {
  test('full schemas keep the mark of deferral', () => {
    const entry = parsed({ schemas: 'full' }).tools[1];
    expect(entry).toMatchObject({ defer_loading: true, input_schema: { type: 'object' } });
    expect(entry.description).toHaveLength(300);
  });

  test('no schemas gives names only', () => {
    expect(parsed({ schemas: 'none' }).tools).toEqual([{ name: 'Bash' }, { name: 'mcp__s__t' }]);
  });

  test('OpenAI shapes are those of its two APIs', () => {
    const [chat, lateChat] = parsed({ format: 'openai-chat' }).tools;
    expect(chat).toMatchObject({ type: 'function', function: { name: 'Bash', parameters: { type: 'object' } } });
    expect(lateChat.function.parameters).toMatchObject({ type: 'object', additionalProperties: true });
    const [bash, late] = parsed({ format: 'openai-responses' }).tools;
    expect(bash).toMatchObject({ type: 'function', name: 'Bash', parameters: { type: 'object' }, strict: false });
    expect(late).toMatchObject({ defer_loading: true });
  });

  test('MCP tools always carry their schema, and hints that hold for every input', () => {
    const [bash, late] = parsed({ format: 'mcp' }).tools;
    expect(bash.annotations.readOnlyHint).toBe(false);
    expect(late).toMatchObject({ inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } });
  });

  const hints = (readOnly: boolean, destructive: boolean, idempotent: boolean, openWorld: boolean) => ({
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  });

  test.each([
    ['nothing is known of', plainTool('T'), hints(false, true, false, true)],
    ['looks at its input', plainTool('T', { isReadOnly: (input) => 'a' in input }), hints(false, true, false, true)],
    ['only reads files', plainTool('T', { isReadOnly: () => true, paths: () => [] }), hints(true, false, false, false)],
    ['edits files', plainTool('T', { isFileEdit: true }), hints(false, true, false, false)],
    ['keeps a list', plainTool('T', { touchesOnlySession: () => true }), hints(false, false, false, false)],
    ['only reads, elsewhere', mcpTool('s', 'T', { isReadOnly: () => true }), hints(true, false, false, true)],
    [
      'has hints of its own',
      mcpTool('s', 'T', { mcpHints: { destructiveHint: false, idempotentHint: true, openWorldHint: false } }),
      hints(false, false, true, false),
    ],
  ])('a tool that %s has the hints that MCP would assume, or better ones', (_what, tool, expected) => {
    const pool = assembleToolPool({ toolMode: 'normal' }, [], [tool], configuration);
    const [entry] = JSON.parse(toolList(pool, { format: 'mcp', schemas: 'full' }).body.toString()).tools;
    expect(entry.annotations).toEqual(expected);
  });

  test('full tells of what is not enabled, after the others', () => {
    const { tools } = parsed({ format: 'full' });
    expect(tools.map((tool: { state: string }) => tool.state)).toEqual([
      'enabled',
      'enabled',
      'not enabled: no engine is configured',
    ]);
    expect(tools[1]).toMatchObject({ source: 'mcp', server: 's', max_result_size_chars: 1_000 });
  });

  test('a table is aligned text', () => {
    const lines = list({ format: 'table' }).body.toString().split('\n');
    expect(lines[0]).toMatch(/^NAME\s+SOURCE\s+LOADED\s+DESCRIPTION$/);
    expect(lines[1]?.indexOf('built-in')).toBe(lines[0]?.indexOf('SOURCE'));
  });
});

test('one tool in full is found by alias, hidden or not', () => {
  const tools = [plainTool('Bash', { aliases: ['Shell'] }), ...base.slice(1)];
  const pool = assembleToolPool({ toolMode: 'normal' }, tools, [], configuration);
  expect(toolInFull(pool, 'Shell')).toMatchObject({ name: 'Bash', state: 'enabled' });
  expect(toolInFull(pool, 'Off')).toMatchObject({ state: 'not enabled: no engine is configured' });
  expect(toolInFull(pool, 'constructor')).toBeUndefined();
});

test('one list is rendered once', () => {
  const pool = assembleToolPool({ toolMode: 'normal' }, base, [], configuration);
  const variant = { format: 'anthropic', schemas: 'full' } as const;
  expect(toolList(pool, variant)).toBe(toolList(pool, { ...variant }));
});
