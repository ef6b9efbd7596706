import { expect, test } from 'vitest';
import { searchTools } from '../../../src/pool/search.ts';
import { mcpTool, plainTool } from '../../helpers/plain-tool.ts';

const tools = [
  plainTool('NotebookEdit', { searchHint: 'change cells of Jupyter notebooks' }),
  plainTool('TaskStop', { aliases: ['KillShell'], prompt: () => 'Ends a background command' }),
  plainTool('WebFetch', { searchHint: 'read a page from the web' }),
  mcpTool('slack', 'sendMessage', { prompt: () => 'Posts to a channel' }),
];

function search(query: string, maxResults = 5) {
  const space = {
    tools,
    isCandidate: () => true,
    describe: (tool: (typeof tools)[0]) => tool.prompt({ toolNames: [] }),
  };
  return searchTools(query, space, maxResults).found.map((tool) => tool.name);
}

test.each([
  ['select:WebFetch,killshell', ['WebFetch', 'TaskStop']],
  ['select:Nothing', []],
  ['jupyter', ['NotebookEdit']],
  ['web page', ['WebFetch']],
  ['background', ['TaskStop']],
  ['send message', ['mcp__slack__sendMessage']],
  ['+slack edit', ['mcp__slack__sendMessage']],
  ['+nothing edit', []],
  ['', []],
])('"%s" finds %j', (query, expected) => {
  expect(search(query)).toEqual(expected);
});

test('a word in a name beats one in a hint', () => {
  expect(search('web edit')[0]).toBe('NotebookEdit');
  expect(search('notebook web read', 2)).toEqual(['WebFetch', 'NotebookEdit']);
});

test('no more than asked for are found', () => {
  expect(search('a e', 2)).toHaveLength(2);
});
