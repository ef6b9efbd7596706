import { expect, test } from 'vitest';
import { configuration } from './configuration.ts';
import { createToolPools } from '../../../src/pool/tool-pools.ts';
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
