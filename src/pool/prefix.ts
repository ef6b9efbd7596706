/**
 * The identity of the built-in prefix: what tells a client that its prompt cache still holds.
 */
import { createHash } from 'node:crypto';
import { describeEntry } from './describe.ts';
import type { ToolPool } from './tool-pool.ts';

/**
 * sha256, hex, of the UTF-8 bytes of the JSON array of `tools[0..built_in_count)` of the default list.
 *
 * A client that holds that reply computes it as `sha256(JSON.stringify(tools.slice(0, built_in_count)))`.
 */
export function builtInPrefixSha256(pool: ToolPool): string {
  const builtIns = pool.tools.slice(0, pool.builtInCount);
  const entries = builtIns.map((tool) => describeEntry(tool, pool, 'anthropic', 'by deferral'));
  return createHash('sha256').update(JSON.stringify(entries)).digest('hex');
}
