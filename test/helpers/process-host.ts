/** A process host for the tests of one file, and ways to look at what it left behind. */
import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from '../../config/limits.ts';
import { createProcessHost, type ManagedProcessHost } from '../../src/process/host-client.ts';
import type { ProcessExit, ProcessHost, SpawnRequest } from '../../src/process/process-host.ts';

/** A host of this file's own, started before its tests and ended after them. */
export function testProcessHost(limits: Partial<Limits> = {}): ManagedProcessHost & { readonly ownerId: string } {
  const ownerId = randomUUID();
  const host = createProcessHost({ limits: { ...DEFAULT_LIMITS, ...limits }, ownerId });
  beforeAll(() => host.warm());
  afterAll(() => host.close());
  return { ...host, ownerId };
}

/** How a child ended, and all it wrote. */
export interface Ran extends ProcessExit {
  readonly stdout: string;
  readonly stderr: string;
}

/** Run a script, or with `file` a program, to its end. */
export async function run(host: ProcessHost, request: Partial<SpawnRequest>): Promise<Ran> {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const child = host.spawn({
    file: 'bash',
    args: [],
    cwd: '/',
    onOutput: (stream, chunk) => void chunks[stream].push(Buffer.from(chunk)),
    ...request,
  });
  const exit = await child.exited;
  return { ...exit, stdout: Buffer.concat(chunks.stdout).toString(), stderr: Buffer.concat(chunks.stderr).toString() };
}

/** Processes whose environment holds `text`. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && environmentOf(pid).includes(text));
}

/** The environment a process was started with, entries ended by NUL; '' when it is gone. */
export function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    // It ended between the listing and the look.
    return '';
  }
}

/** Wait until something holds, looking every few milliseconds. @throws {Error} After `deadlineMs`. */
export async function until(holds: () => boolean | Promise<boolean>, deadlineMs = 5_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`Still not so after ${deadlineMs} ms: ${holds.toString()}`);
    await delay(5);
  }
}
