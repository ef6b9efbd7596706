import { expect, test } from 'vitest';
import { MAX_UNDEFERRED_BUILT_INS } from '../../../src/pool/deferral.ts';
import { configuration } from './configuration.ts';
import { createToolPools } from '../../../src/pool/tool-pools.ts';
import { toolList } from '../../../src/pool/tool-list.ts';
import { mcpTool, plainTool } from '../../helpers/plain-tool.ts';
import { sessionContextIn } from '../../helpers/tool-use-context.ts';

const { permissions } = sessionContextIn('/w');
const none: never[] = [];

test('the same context gives the same pool', () => {
  const pools = createToolPools([plainTool('Bash')], configuration);
  const context = { toolMode: 'normal', permissions } as const;
  expect(pools.pool(context, none)).toBe(pools.pool({ ...context }, none));
  expect(pools.pool({ toolMode: 'normal' }, none)).toBe(pools.pool({ toolMode: 'normal' }, none));
});

test('another mode, other rules and another list of servers give another pool', () => {
  const pools = createToolPools([plainTool('Bash')], configuration);
  const first = pools.pool({ toolMode: 'normal', permissions }, none);
  expect(pools.pool({ toolMode: 'repl', permissions }, none)).not.toBe(first);
  expect(pools.pool({ toolMode: 'normal', permissions: { ...permissions, rules: {} } }, none)).not.toBe(first);
  expect(pools.pool({ toolMode: 'normal', permissions }, [mcpTool('a', 'x')]).mcpCount).toBe(1);
});

test('a prompt is worded by the permissions of its session', () => {
  const worded = plainTool('Worded', { prompt: (options) => `mode ${options.permissions?.mode ?? 'nobody'}` });
  const pools = createToolPools([worded], configuration);
  const planning = { ...permissions, mode: 'plan' } as const;
  const own = pools.pool({ toolMode: 'normal', permissions: planning }, none);
  const other = pools.pool({ toolMode: 'normal', permissions }, none);
  expect(own.prefixSha256).not.toBe(other.prefixSha256);
  expect(own.tools).toBe(other.tools);
});

test('a prompt is worded by the principal and the folder of its session', () => {
  const worded = plainTool('Worded', { prompt: ({ principal, cwd }) => `for ${principal} in ${cwd}` });
  const pools = createToolPools([worded], configuration);
  const poolIn = (cwd: string) => pools.pool({ toolMode: 'normal', permissions, principal: 'owner', cwd }, none);
  expect(JSON.parse(String(toolList(poolIn('/a'), { format: 'anthropic', schemas: 'full' }).body))).toMatchObject({
    tools: [{ description: 'for owner in /a' }],
  });
  expect(poolIn('/b')).not.toBe(poolIn('/a'));
  expect(poolIn('/b')).toBe(poolIn('/b'));
});

test('a tool may be there for some sessions alone', () => {
  const local = plainTool('Local', {
    isEnabled: ({ cwd }) => cwd === '/a',
    disabledReason: ({ cwd }) => `not in ${cwd}`,
  });
  const pools = createToolPools([plainTool('Bash'), local], configuration);
  const poolIn = (cwd: string) => pools.pool({ toolMode: 'normal', permissions, cwd }, none);
  expect(poolIn('/a').tools.map(({ name }) => name)).toEqual(['Bash', 'Local']);
  expect(poolIn('/b').hiddenTool('Local')?.reason).toBe('not enabled: not in /b');
});

test('a tool that becomes enabled is listed from then on, and no more once it is disabled', () => {
  let isConnected = false;
  const remote = plainTool('Remote', { isEnabled: () => isConnected });
  const pools = createToolPools([plainTool('Bash'), remote], configuration);
  const names = () => pools.pool({ toolMode: 'normal', permissions }, none).tools.map(({ name }) => name);
  expect(names()).toEqual(['Bash']);
  isConnected = true;
  expect(names()).toEqual(['Bash', 'Remote']);
  isConnected = false;
  expect(names()).toEqual(['Bash']);
});

test('one deny rule more does not bring the schema of a deferred tool back', () => {
  const many = Array.from({ length: MAX_UNDEFERRED_BUILT_INS }, (_, place) => plainTool(`Tool${place}`));
  const rare = plainTool('Rare', { shouldDefer: true });
  const isDeferred = (deny: readonly string[], off: readonly string[] = []) => {
    const tools = many.map((tool) => (off.includes(tool.name) ? { ...tool, isEnabled: () => false } : tool));
    const rules = { session: { allow: [], ask: [], deny } };
    const context = { toolMode: 'normal', permissions: { ...permissions, rules } } as const;
    return createToolPools([...tools, rare], configuration)
      .pool(context, none)
      .isDeferred(rare);
  };
  expect(isDeferred([])).toBe(true);
  expect(isDeferred(['Tool1'])).toBe(true);
  expect(isDeferred([], ['Tool1'])).toBe(false);
});
