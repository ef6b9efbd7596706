/** O3, its second half: what a server still holds after a collection. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BuiltServer } from './built-server.ts';
import { until } from './wire-client.ts';

const MIB = 1_024 * 1_024;

/** The environment of a server that can be asked. */
export const COLLECTING = {
  NODE_OPTIONS: `--import=${new URL('../fixtures/held-memory.mjs', import.meta.url).pathname}`,
};

/** Have a server started with `COLLECTING` collect its garbage. @returns What it holds then, MiB. */
export async function heldMiB({ pid, home }: BuiltServer): Promise<number> {
  const answer = join(home, 'held');
  rmSync(answer, { force: true });
  process.kill(pid, 'SIGWINCH');
  await until(() => Promise.resolve(existsSync(answer)));
  return Number(readFileSync(answer, 'utf8')) / MIB;
}
