import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import type { Tool } from '../../../src/tool/tool.ts';
import { adaptTool } from '../../../src/mcp/adapt.ts';
import { parseToolDefinition } from '../../../src/mcp/tool-definition.ts';
import { toolUseContextIn } from '../../helpers/tool-use-context.ts';

/** The tool that a server's `tools/list` entry becomes. */
function adapted(sent: Record<string, unknown>, isAlwaysLoaded = false): Tool {
  const judged = parseToolDefinition({ name: 'look', inputSchema: { type: 'object' }, ...sent });
  if ('refusal' in judged) throw new Error(judged.refusal);
  return adaptTool(judged.definition, {
    server: 'web',
    isAlwaysLoaded: () => isAlwaysLoaded,
    limits: DEFAULT_LIMITS,
    call: () => Promise.reject(new Error('not called')),
    isChanged: () => false,
    pinnedText: () => undefined,
    approve: () => undefined,
  });
}

describe('a tool of a server', () => {
  test('that says nothing about itself is trusted with nothing', () => {
    const tool = adapted({});
    expect([tool.isReadOnly({}), tool.isConcurrencySafe({}), tool.isDestructive?.({}), tool.paths]).toEqual([
      false,
      false,
      false,
      undefined,
    ]);
    expect(tool).toMatchObject({
      shouldDefer: true,
      maxResultSizeChars: 100_000,
      origin: { type: 'mcp', name: 'web' },
    });
    expect(tool.userFacingName()).toBe('web - look (MCP)');
  });

  test('keeps its definition for clients of MCP, and brings its own search words', () => {
    const sent = {
      title: 'Look',
      outputSchema: { type: 'object', properties: { seen: { type: 'string' } } },
      inputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        oneOf: [{}, { minProperties: 1 }],
      },
      icons: [{ src: 'https://example.com/look.png' }],
      _meta: { 'anthropic/searchHint': 'see watch observe', vendor: { own: true } },
    };
    const tool = adapted(sent);
    expect(tool.mcpDefinition).toEqual(sent);
    expect(tool.inputJSONSchema).not.toHaveProperty('oneOf');
    expect(tool.searchHint).toBe('see watch observe');
    const odd = adapted({ icons: 'none', outputSchema: [], _meta: 7, title: 'x' });
    expect(odd.mcpDefinition).toEqual({ title: 'x', inputSchema: { type: 'object' } });
  });

  test('is left out if it wants a header that nobody may send', () => {
    const refusalOf = (properties: object, rest: object = {}) => {
      const parsed = parseToolDefinition({ name: 'look', inputSchema: { type: 'object', properties, ...rest } });
      return 'refusal' in parsed ? parsed.refusal : undefined;
    };
    const wanting = (header: unknown, type = 'string') => ({ type, 'x-mcp-header': header });
    expect(refusalOf({ region: wanting('Region'), inner: { type: 'object', properties: { a: wanting('A') } } })).toBe(
      undefined,
    );
    expect(refusalOf({ region: wanting('two words') })).toContain('x-mcp-header');
    expect(refusalOf({ region: wanting('') })).toContain('x-mcp-header');
    expect(refusalOf({ region: wanting('Region', 'object') })).toContain('a string, an integer or a boolean');
    expect(refusalOf({ one: wanting('Region'), other: wanting('region') })).toContain('twice');
    expect(refusalOf({ list: { type: 'array', items: wanting('Region') } })).toContain('only properties');
    expect(refusalOf({}, { anyOf: [{ properties: { region: wanting('Region') } }] })).toContain('only properties');
  });

  test('is what its hints say', () => {
    const reads = adapted({ annotations: { readOnlyHint: true, destructiveHint: true, title: 'Look around' } });
    const destroys = adapted({ annotations: { destructiveHint: true, openWorldHint: true } });

    expect([reads.isReadOnly({}), reads.isConcurrencySafe({}), reads.isDestructive?.({})]).toEqual([true, true, false]);
    expect([destroys.isReadOnly({}), destroys.isDestructive?.({})]).toEqual([false, true]);
    expect(destroys.warnings?.({})).toHaveLength(1);
    expect(reads.userFacingName()).toBe('Look around');
    expect(destroys.mcpHints).toEqual({ destructiveHint: true, openWorldHint: true });
  });

  test('takes hints of the wrong type for none', () => {
    expect(adapted({ annotations: { readOnlyHint: 'yes' } }).isReadOnly({})).toBe(false);
    expect(adapted({ annotations: 7 }).isReadOnly({})).toBe(false);
  });

  test('is never deferred where its server is always loaded', () => {
    expect(adapted({}, true)).toMatchObject({ alwaysLoad: true });
    expect(adapted({}, true).shouldDefer).toBeUndefined();
  });

  test.each([
    [600_000, 500_000, true],
    [120_000.5, 120_000, true],
    [10, 100_000, undefined],
    ['600000', 100_000, undefined],
  ])('that asks for %s characters of result gets %s', (asked, chars, isOutsideTurnBudget) => {
    const tool = adapted({ _meta: { 'anthropic/maxResultSizeChars': asked } });
    expect([tool.maxResultSizeChars, tool.isOutsideTurnBudget]).toEqual([chars, isOutsideTurnBudget]);
  });

  test('shows its schema as sent, but for what cannot be seen', () => {
    const inputSchema = { properties: { a: { type: 'string', description: 'x\u202ey', enum: ['\u202e'] } } };
    expect(adapted({ inputSchema }).inputJSONSchema).toEqual({
      type: 'object',
      properties: { a: { type: 'string', description: 'x\\u{202e}y', enum: ['\u202e'] } },
    });
  });

  test('judges by all of its schema and shows what the model APIs take', () => {
    const inputSchema = {
      type: 'object',
      properties: { a: {}, b: {} },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    };
    const tool = adapted({ inputSchema });
    expect(tool.inputJSONSchema).toEqual({ type: 'object', properties: { a: {}, b: {} } });
    expect([{ a: 1 }, { b: 1 }, {}].map((input) => tool.inputSchema.safeParse(input).success)).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('is drawn from partial input, progress, results and refusals', () => {
    const tool = adapted({});
    const progress = [{ data: { type: 'mcp', progress: 1, total: 4, message: 'step' } }];
    const output = { content: [{ type: 'text', text: 'seen' }] };

    expect(tool.renderToolUseMessage({ url: 'x' }).blocks).toEqual([{ kind: 'list', items: ['url: x'] }]);
    expect(tool.renderToolUseProgressMessage?.(progress).blocks).toEqual([
      { kind: 'progress', label: 'step', value: 0.25 },
    ]);
    expect(tool.renderToolResultMessage?.(output, [], {}).blocks).toEqual([{ kind: 'text', text: 'seen' }]);
    expect(tool.renderToolUseRejectedMessage?.({}, 'no').tone).toBe('warning');
    expect(tool.renderToolUseErrorMessage?.('broken', {}).tone).toBe('danger');
  });

  test('has no objection of its own', async () => {
    expect(await adapted({}).checkPermissions({}, toolUseContextIn('/'))).toEqual({ behavior: 'allow' });
  });
});
