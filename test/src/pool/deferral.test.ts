import { expect, test } from 'vitest';
import { isDeferredTool, type ToolSearchSetting } from '../../../src/pool/deferral.ts';
import { mcpTool, plainTool } from '../../helpers/plain-tool.ts';

const rare = plainTool('Rare', { shouldDefer: true });
const core = plainTool('Core', { shouldDefer: true, alwaysLoad: true });
const remote = mcpTool('a', 'x');
const loaded = mcpTool('a', 'y', { alwaysLoad: true });

test.each<[ToolSearchSetting, number, string[]]>([
  ['auto', 30, ['mcp__a__x']],
  ['auto', 31, ['Rare', 'mcp__a__x']],
  ['always', 1, ['Rare', 'mcp__a__x']],
  ['off', 99, []],
])('setting "%s" with %i built-ins defers %j', (toolSearch, builtInCount, expected) => {
  const context = { toolSearch, builtInCount };
  const deferred = [rare, core, remote, loaded].filter((tool) => isDeferredTool(tool, context));
  expect(deferred.map((tool) => tool.name)).toEqual(expected);
});
