/**
 * The gate's decision about a command, bundled as the server is and measured in a process of its own.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { GateFigures } from '../fixtures/gate-decisions.ts';
import { type Row, short } from '../row.ts';

/** Its 99th percentile, and what ten thousand rules add to one. */
export async function gateRows(): Promise<readonly Row[]> {
  const { decisions, p50Ms, p99Ms, rules, addedMs } = await measure();
  return [
    {
      what: `a decision about 200 characters of Bash, p99 of ${decisions}, processor ms`,
      toReach: 'under 1 ms',
      measured: `${short(p99Ms)} (p50 ${short(p50Ms)})`,
      isReached: p99Ms < 1,
    },
    {
      what: `what ${rules} rules add to a decision, processor ms`,
      toReach: 'under 0.2 ms',
      measured: short(addedMs),
      isReached: addedMs < 0.2,
    },
  ];
}

/** Young objects as `npm start` has them, and no threads whose time would count twice. */
const GARBAGE_COLLECTION = ['--max-semi-space-size=32', '--single-threaded-gc'];

async function measure(): Promise<GateFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'gauntlet-bench-gate-'));
  try {
    const program = join(folder, 'gate-decisions.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL('../fixtures/gate-decisions.ts', import.meta.url))],
      outfile: program,
      ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'warning' },
      external: ['@vscode/ripgrep'],
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    });
    const { stdout } = await promisify(execFile)(process.execPath, [...GARBAGE_COLLECTION, program]);
    return JSON.parse(stdout) as GateFigures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
