/**
 * The bytes a prompt cache depends on: the default tool list, exactly as it leaves.
 *
 * A red pin means "decide": every client's cache goes cold with the first byte that changes.
 */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../config/limits.ts';
import type { Tool } from '../../src/tool/tool.ts';
import { createToolPools } from '../../src/pool/tool-pools.ts';
import { toolList } from '../../src/pool/tool-list.ts';
import { getAllBaseTools, HIDDEN_IN_REPL, SIMPLE_TOOLS, type ToolServices } from '../../tools/index.ts';
import { mcpTool } from '../helpers/plain-tool.ts';

/** The list needs words and schemas only: no service is ever asked for anything. */
const services = {
  limits: DEFAULT_LIMITS,
  toolSearch: 'auto',
  models: new Map(),
  agentTypes: [],
  hasGit: true,
  mcp: { states: () => [] },
} as unknown as ToolServices;

const baseTools = getAllBaseTools({ ...services, features: {} });
const pools = createToolPools(baseTools, {
  simpleTools: SIMPLE_TOOLS,
  hiddenInRepl: HIDDEN_IN_REPL,
  toolSearch: 'auto',
});
const list = (external: readonly Tool[]) =>
  toolList(pools.pool({ toolMode: 'normal' }, external), {
    format: 'anthropic',
    schemas: 'by deferral',
  }).body.toString();

describe('the default tool list', () => {
  it('is the same, byte for byte', async () => {
    await expect(`${JSON.stringify(JSON.parse(list([])), null, 1)}\n`).toMatchFileSnapshot('tool-list.json');
  });

  it('keeps the bytes of its prefix whatever comes behind them', () => {
    const alone = JSON.parse(list([])) as { tools: unknown[]; prefix_sha256: string };
    const together = list([mcpTool('aaa', 'first')]);
    const prefix = JSON.stringify(alone.tools);
    expect(together.startsWith(`{"tools":${prefix.slice(0, -1)},`)).toBe(true);
    expect(createHash('sha256').update(prefix).digest('hex')).toBe(alone.prefix_sha256);
  });
});
