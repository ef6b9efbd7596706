/**
 * `echo hi` through the process host beside a plain spawn of bash, from a small server and from one that holds 1 GiB.
 *
 * Run with `npx tsx bench/process-host.ts [dist/process-host.js]`; both are measured in turn in one run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_LIMITS } from '../config/limits.ts';
import { createProcessHost } from '../src/process/host-client.ts';

const RUNS = 60;
const HELD_MIB = 1_024;
/** Between two commands, as between two calls of a model: time to start the next shell ahead. */
const PAUSE_MS = 20;

const [, , hostEntry] = process.argv;
const host = createProcessHost({
  limits: DEFAULT_LIMITS,
  ownerId: 'bench',
  ...(hostEntry === undefined ? {} : { hostEntry: resolve(hostEntry) }),
});

async function throughHost(): Promise<void> {
  const child = host.spawn({ file: 'bash', args: [], cwd: '/', shellScript: 'echo hi', onOutput: () => undefined });
  await child.exited;
}

async function plainly(): Promise<void> {
  const child = spawn('bash', ['-c', 'echo hi'], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  await once(child, 'close');
}

async function measure(title: string, run: () => Promise<void>): Promise<void> {
  const times: number[] = [];
  for (let count = 0; count < RUNS; count += 1) {
    const started = performance.now();
    await run();
    times.push(performance.now() - started);
    await delay(PAUSE_MS);
  }
  times.sort((left, right) => left - right);
  const percentile = (share: number) => `${(times[Math.floor(RUNS * share)] ?? NaN).toFixed(2)} ms`;
  console.log(`${title.padEnd(40)} p50 ${percentile(0.5)}  p90 ${percentile(0.9)}`);
}

await host.warm();
await measure('plain spawn', plainly);
await measure('process host', throughHost);
const held = Buffer.alloc(HELD_MIB * 1_024 * 1_024, 1);
await measure(`plain spawn, ${held.length / 1_024 / 1_024} MiB held`, plainly);
await measure(`process host, ${held.length / 1_024 / 1_024} MiB held`, throughHost);
await host.close();
