import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { resultText } from '../../../src/wire/result-text.ts';
import { toolSearchTool } from '../../../tools/more/tool-search.ts';
import { mcpTool, plainTool } from '../../helpers/plain-tool.ts';
import { toolUseContextIn } from '../../helpers/tool-use-context.ts';

const tool = toolSearchTool({ toolSearch: 'auto', limits: DEFAULT_LIMITS });
const tools = [
  plainTool('Read', { alwaysLoad: true, searchHint: 'read a message from a file' }),
  mcpTool('slack', 'send', { prompt: () => 'Posts a message' }),
  mcpTool('mail', 'send', { prompt: () => 'Sends a message' }),
];

async function search(query: string, maxResults = 5, listed = tools) {
  const input = tool.inputSchema.parse({ query, max_results: maxResults });
  const { data } = await tool.call(
    input,
    toolUseContextIn('/w', { tools: listed, isDeferred: ({ origin }) => origin !== undefined }),
  );
  const { content } = tool.mapToolResultToToolResultBlockParam(data, 'call-1');
  const references = typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_reference');
  return { data, text: resultText(content), references };
}

describe('ToolSearch', () => {
  test('gives whole definitions, one a line, and a reference to each', async () => {
    const { text, references } = await search('select:mcp__slack__send');
    const [open, line = '', close] = text.split('\n');
    expect([open, close]).toEqual(['<functions>', '</functions>']);
    expect(JSON.parse(line.replace(/<\/?function>/g, ''))).toMatchObject({
      name: 'mcp__slack__send',
      description: 'Posts a message',
      input_schema: { type: 'object' },
    });
    expect(references).toEqual([{ type: 'tool_reference', tool_name: 'mcp__slack__send' }]);
  });

  test('finds deferred tools by words, no others', async () => {
    const { references } = await search('message');
    expect(references).toHaveLength(2);
    expect((await search('message', 1)).references).toHaveLength(1);
  });

  test('finds by words what the list of its session defers, however few tools are left in that', async () => {
    const rare = plainTool('Rare', { shouldDefer: true, searchHint: 'collect stamps' });
    const context = toolUseContextIn('/w', { tools: [rare], isDeferred: () => true });
    const { data } = await tool.call(tool.inputSchema.parse({ query: 'stamps' }), context);
    expect(data.found.map(({ definition }) => definition.name)).toEqual(['Rare']);
  });

  test('a tool that is loaded may be named, without a reference', async () => {
    const { text, references } = await search('select:Read');
    expect(text).toContain('"name":"Read"');
    expect(references).toEqual([]);
  });

  test('says what to do when nothing matches', async () => {
    expect((await search('+nothing')).text).toBe(
      'No tool matches "+nothing". 2 are deferred. Try other words, or "select:" with a name from the list of tools',
    );
    expect((await search('message', 5, [])).text).toBe(
      'No tool matches "message". None is deferred: call those in the list of tools as they stand there',
    );
  });

  test('names what was selected and is not there', async () => {
    const { text } = await search('select:Read, Nope,,mcp__x__y');
    expect(text).toMatch(/<\/functions>\nNo tool is named "Nope"\nNo tool is named "mcp__x__y"$/);
  });

  test('is not listed when nothing is deferred', () => {
    const off = toolSearchTool({ toolSearch: 'off', limits: DEFAULT_LIMITS });
    expect(off.isEnabled()).toBe(false);
    expect(off.disabledReason?.()).toContain('"off"');
  });

  test('runs beside others, unasked, and is never deferred', () => {
    const input = tool.inputSchema.parse({ query: 'x' });
    expect([tool.isReadOnly(), tool.isConcurrencySafe(), tool.touchesOnlySession(), tool.alwaysLoad]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(input.max_results).toBe(5);
  });

  test('is drawn at every step', async () => {
    expect(tool.renderToolUseMessage({})).toMatchObject({ title: 'Search tools', subtitle: '…' });
    const { data } = await search('send');
    expect(tool.renderToolResultMessage(data, [], {})).toMatchObject({
      title: 'Found 2 tools',
      blocks: [{ kind: 'list' }],
    });
    expect(tool.renderToolResultMessage(data, [], { style: 'condensed' }).blocks).toEqual([]);
    expect(tool.renderToolUseErrorMessage('no')).toMatchObject({ tone: 'danger' });
  });
});
