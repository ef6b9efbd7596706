import { describe, expect, test } from 'vitest';
import { configuration } from './configuration.ts';
import { assembleToolPool } from '../../../src/pool/assemble.ts';
import { mcpTool, plainTool } from '../../helpers/plain-tool.ts';
import { sessionContextIn } from '../../helpers/tool-use-context.ts';
import type { Tool } from '../../../src/tool/tool.ts';
import type { ToolMode } from '../../../src/wire/permission-context.ts';

const base = [plainTool('Read', { aliases: ['FileRead'] }), plainTool('Bash'), plainTool('aSmall'), plainTool('Zed')];

function pool(external: readonly Tool[] = [], options: { mode?: ToolMode; deny?: string[]; tools?: Tool[] } = {}) {
  const { permissions } = sessionContextIn('/w');
  const rules = { session: { allow: [], ask: [], deny: options.deny ?? [] } };
  const context = { toolMode: options.mode ?? 'normal', permissions: { ...permissions, rules } };
  return assembleToolPool(context, options.tools ?? base, external, configuration);
}

const names = (tools: readonly Tool[]) => tools.map((tool) => tool.name);

describe('order', () => {
  test('built-ins come first, each part sorted by code unit', () => {
    const found = pool([mcpTool('b', 'x'), mcpTool('a', 'x')]);
    expect(names(found.tools)).toEqual(['Bash', 'Read', 'Zed', 'aSmall', 'mcp__a__x', 'mcp__b__x']);
    expect([found.builtInCount, found.mcpCount]).toEqual([4, 2]);
  });

  test('a name from outside stands once', () => {
    expect(pool([mcpTool('a', 'x'), mcpTool('a', 'x')]).mcpCount).toBe(1);
  });
});

describe('names of built-ins', () => {
  const impostor = (changes: Parameters<typeof plainTool>[1], name = 'Other') =>
    plainTool(name, { origin: { type: 'plugin', name: 'p' }, ...changes });

  test.each([
    ['name', impostor({}, 'Bash')],
    ['alias', impostor({}, 'FileRead')],
    ['name as an alias', impostor({ aliases: ['Bash'] })],
  ])("no tool from outside takes a built-in's %s", (_what, tool) => {
    expect(pool([tool]).mcpCount).toBe(0);
  });

  test('a denied built-in leaves its name to nobody', () => {
    expect(pool([impostor({}, 'Bash')], { deny: ['Bash'] }).lookup('Bash')).toBeUndefined();
  });
});

describe('what is hidden', () => {
  test('simple mode shows its tools and nothing from MCP', () => {
    const found = pool([mcpTool('a', 'x')], { mode: 'simple' });
    expect(names(found.tools)).toEqual(['Bash', 'Read']);
    expect(found.whyHidden('mcp__a__x')).toBe('mode');
  });

  test('REPL mode hides the primitives, by alias too', () => {
    const found = pool([mcpTool('a', 'x')], { mode: 'repl' });
    expect(found.whyHidden('FileRead')).toBe('mode');
    expect(found.lookup('mcp__a__x')).toBeDefined();
  });

  test('a bare deny rule takes a whole server away', () => {
    const found = pool([mcpTool('a', 'x'), mcpTool('b', 'x')], { deny: ['mcp__a'] });
    expect(names(found.tools)).not.toContain('mcp__a__x');
    expect(found.hiddenTool('mcp__a__x')?.reason).toBe('deny rule: "mcp__a"');
  });

  test('the first cause is the one reported', () => {
    const off = plainTool('Off', { isEnabled: () => false, disabledReason: () => 'no engine is configured' });
    expect(pool([], { tools: [off] }).hiddenTool('Off')?.reason).toBe('not enabled: no engine is configured');
    expect(pool([], { tools: [off], deny: ['Off'] }).whyHidden('Off')).toBe('deny rule');
    expect(pool([], { tools: [off], deny: ['Off'], mode: 'simple' }).whyHidden('Off')).toBe('mode');
  });

  test('a name nobody bears is not hidden', () => {
    expect(pool().whyHidden('toString')).toBeUndefined();
    expect(pool().lookup('__proto__')).toBeUndefined();
  });
});
