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

async function search(query: string, maxResults = 5, listed = tools, toolSearch?: 'references') {
  const input = tool.inputSchema.parse({ query, max_results: maxResults });
  const { data, newMessages } = await tool.call(
    input,
    toolUseContextIn('/w', { tools: listed, toolSearch, isDeferred: ({ origin }) => origin !== undefined }),
  );
  const { content } = tool.mapToolResultToToolResultBlockParam(data, 'call-1');
  return { data, content, newMessages, text: resultText(content) };
}

describe('ToolSearch', () => {
  test('gives whole definitions, one a line, as text alone', async () => {
    const { text, content } = await search('select:mcp__slack__send');
    const [open, line = '', close] = text.split('\n');
    expect([open, close]).toEqual(['<functions>', '</functions>']);
    expect(JSON.parse(line.replace(/<\/?function>/g, ''))).toMatchObject({
      name: 'mcp__slack__send',
      description: 'Posts a message',
      input_schema: { type: 'object' },
    });
    expect(content).toBe(text);
  });

  test('gives references alone where the session wants them, and the rest in a message of its own', async () => {
    const { content, newMessages } = await search('select:mcp__slack__send,Read,Nope', 5, tools, 'references');
    expect(content).toEqual([{ type: 'tool_reference', tool_name: 'mcp__slack__send' }]);
    expect(newMessages).toEqual([{ role: 'user', content: 'No tool is named "Nope"' }]);
    expect((await search('select:Read', 5, tools, 'references')).text).toContain('"name":"Read"');
    expect((await search('select:mcp__slack__send', 5, tools, 'references')).newMessages).toBeUndefined();
  });

  test('finds deferred tools by words, no others', async () => {
    expect((await search('message')).data.found).toHaveLength(2);
    expect((await search('message', 1)).data.found).toHaveLength(1);
  });

  test('finds by words what the list of its session defers, however few tools are left in that', async () => {
    const rare = plainTool('Rare', { shouldDefer: true, searchHint: 'collect stamps' });
    const context = toolUseContextIn('/w', { tools: [rare], isDeferred: () => true });
    const { data } = await tool.call(tool.inputSchema.parse({ query: 'stamps' }), context);
    expect(data.found.map(({ definition }) => definition.name)).toEqual(['Rare']);
  });

  test('a tool that is loaded may be named', async () => {
    expect((await search('select:Read')).text).toContain('"name":"Read"');
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
