/**
 * What must hold after every fault: the log is in order, no process and no descriptor is left, memory stayed
 * within its budget, and no secret came out.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import type { BuiltServer } from './built-server.ts';
import { environmentOf, processesWith } from './process-host.ts';
import type { ClientSideFrame } from './stream-client.ts';
import { block, until, wireClient, type WireBody, type WireClient } from './wire-client.ts';

/** What a case may cost, and what it must not let out. */
export interface HealthOptions {
  /** Growth of the server's resident memory at its highest, MiB; without it memory is not looked at. */
  readonly memoryMiB?: number;
  /** Texts that must stand in no log line, no frame and no file of a session; the server's token always. */
  readonly canaries?: readonly string[];
  /** Whether calls may still be open when it is asserted; by default each has its one result. */
  readonly mayHaveOpenCalls?: boolean;
}

/** A server that is watched from before a fault. */
export interface WatchedHealth {
  /**
   * All four oracles; waits some seconds for what may still be ending. Fails the test that calls it.
   *
   * @param next The server over the same home, when the watched one was ended by the case.
   */
  assertHealthy(next?: BuiltServer): Promise<void>;
  /** The server's resident memory at its highest since the watch began, above what it was then; MiB. */
  memoryPeakMiB(): number;
}

const POLL_MS = 50;
const PAGE_BYTES = 4_096;
const MIB = 1_024 * 1_024;
/** The kernel gives a shell that waits for its order to nobody else, so it stands where it was started. */
const WAITING_SHELL_FOLDER = '/';
const NEEDS_RESULT = 'tool_use';

/** Watch a server: one call goes through it first, so that what is made once is made. */
export async function watchHealth(server: BuiltServer, options: HealthOptions = {}): Promise<WatchedHealth> {
  const client = wireClient(server);
  const sessionId = await client.session({ mode: 'bypassPermissions' });
  await client.execute(sessionId, [block('Bash', { command: 'true' })]);
  const decoy = makeDecoy(server);
  const decoyBefore = treeHash(decoy);
  const seen = await allFrames(client);
  const descriptorsBefore = ownDescriptors(server);
  const memory = pollMemory(server.pid);

  return {
    memoryPeakMiB: memory.peakMiB,
    async assertHealthy(next = server) {
      memory.stop();
      const after = wireClient(next);
      await assertLogs(after, seen, options.mayHaveOpenCalls === true);
      await assertNoProcesses(next);
      if (next === server) await assertDescriptors(server, descriptorsBefore);
      if (options.memoryMiB !== undefined) expect(memory.peakMiB()).toBeLessThan(options.memoryMiB);
      await assertNoSecrets(server, next, [server.token, ...(options.canaries ?? [])]);
      expect(treeHash(decoy)).toBe(decoyBefore);
    },
  };
}

type SessionFrames = ReadonlyMap<string, readonly ClientSideFrame[]>;

/** O1: each session's frames are numbered without a hole, what was seen stands unchanged, each call ended once. */
async function assertLogs(client: WireClient, before: SessionFrames, mayHaveOpenCalls: boolean): Promise<void> {
  const isSettled = (frames: SessionFrames) => mayHaveOpenCalls || [...frames.values()].every(isSettledLog);
  const sessions = await until(async () => {
    const frames = await allFrames(client);
    return isSettled(frames) && frames;
  });
  for (const [sessionId, frames] of sessions) {
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_frame, index) => index + 1));
    const seen = before.get(sessionId) ?? [];
    expect(frames.slice(0, seen.length)).toEqual(seen);
    const ended = frames.flatMap(({ type, tool_use_id }) => (type === 'result' ? [tool_use_id] : []));
    expect(new Set(ended).size).toBe(ended.length);
    expect(acceptedIds(frames)).toEqual(expect.arrayContaining(ended));
  }
}

/** All calls have a result. */
function isSettledLog(frames: readonly ClientSideFrame[]): boolean {
  return frames.filter(({ type }) => type === 'result').length === acceptedIds(frames).length;
}

function acceptedIds(frames: readonly ClientSideFrame[]): unknown[] {
  return frames.flatMap(({ type, tool_use }) => (type === NEEDS_RESULT ? [(tool_use as { id: string }).id] : []));
}

async function allFrames(client: WireClient): Promise<SessionFrames> {
  const frames = new Map<string, readonly ClientSideFrame[]>();
  for (let query: string | undefined = ''; query !== undefined;) {
    const { sessions, next_cursor: next }: WireBody = (await client.get(`/sessions${query}`)).body;
    const pages = sessions.map(async ({ session_id: id }) => [id, await everyPage(client, id)] as const);
    for (const [id, all] of await Promise.all(pages)) frames.set(id, all);
    query = next === undefined ? undefined : `?cursor=${String(next)}`;
  }
  return frames;
}

async function everyPage(client: WireClient, sessionId: string): Promise<ClientSideFrame[]> {
  const frames: ClientSideFrame[] = [];
  for (;;) {
    const { status, body } = await client.get(`/sessions/${sessionId}/events?from_seq=${frames.at(-1)?.seq ?? 0}`);
    // Removed between the listing and the look.
    if (status === 404 || status === 410) return [];
    frames.push(...body.frames);
    if (body['up_to_date'] === true || body.frames.length === 0) return frames;
  }
}

/** O2: nobody carries the server's marker but the shells that wait for their first order. */
async function assertNoProcesses(server: BuiltServer): Promise<void> {
  await until(() => Promise.resolve(survivorsOf(server).length === 0)).catch((error: unknown) => {
    throw new Error(`Still running: ${survivorsOf(server).map(commandOf).join('; ')}`, { cause: error });
  });
}

/** Processes that calls of this server have left, by id. */
export function survivorsOf({ dataFolder }: Pick<BuiltServer, 'dataFolder'>): readonly number[] {
  const owner = readFileSync(join(dataFolder, 'id'), 'utf8').trim();
  return processesWith(`GAUNTLET_CALL_ID=${owner}-${statSync(dataFolder).ino}.`).filter(
    (pid) => environmentOf(pid) !== '' && !isZombie(pid) && !isWaitingShell(pid),
  );
}

function isWaitingShell(pid: number): boolean {
  return commandOf(pid).includes('_gauntlet_script') && linkOf(`/proc/${pid}/cwd`) === WAITING_SHELL_FOLDER;
}

function isZombie(pid: number): boolean {
  return /^State:\s+[ZX]/m.test(textOf(`/proc/${pid}/status`));
}

function commandOf(pid: number): string {
  return textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
}

/** O2: descriptors are given back, clients' connections not counted. */
async function assertDescriptors(server: BuiltServer, before: readonly string[]): Promise<void> {
  await until(() => Promise.resolve(ownDescriptors(server).length <= before.length)).catch((error: unknown) => {
    const added = ownDescriptors(server).filter((target) => !before.includes(target));
    throw new Error(`Descriptors still open: ${added.join(' ')}`, { cause: error });
  });
}

/** What the server's descriptors lead to, but for clients' connections and the files it opens once, for good. */
function ownDescriptors({ pid, dataFolder }: BuiltServer): readonly string[] {
  const overTcp = new Set(
    ['tcp', 'tcp6'].flatMap((kind) =>
      textOf(`/proc/${pid}/net/${kind}`)
        .split('\n')
        .flatMap((line) => `socket:[${line.trim().split(/\s+/)[9] ?? ''}]`),
    ),
  );
  const sessions = join(dataFolder, 'sessions');
  const isKept = (path: string) => path.startsWith(dataFolder) && !path.startsWith(sessions);
  return readdirSync(`/proc/${pid}/fd`)
    .map((descriptor) => linkOf(`/proc/${pid}/fd/${descriptor}`))
    .filter((target) => target !== '' && !overTcp.has(target) && !isKept(target));
}

/** O3: resident memory, looked at all the time. */
function pollMemory(pid: number) {
  const residentMiB = () => (Number(textOf(`/proc/${pid}/statm`).split(' ')[1] ?? 0) * PAGE_BYTES) / MIB;
  const before = residentMiB();
  let highest = before;
  const timer = setInterval(() => (highest = Math.max(highest, residentMiB())), POLL_MS);
  const stop = () => clearInterval(timer);
  afterAll(stop);
  return { stop, peakMiB: () => highest - before };
}

/** O4: canaries stand neither in what the server said nor in what it kept of sessions. */
async function assertNoSecrets(old: BuiltServer, next: BuiltServer, canaries: readonly string[]): Promise<void> {
  const frames = JSON.stringify([...(await allFrames(wireClient(next))).values()]);
  const said = [old, next].map((server) => server.printed() + server.logged()).join('');
  const files = filesBelow(join(next.dataFolder, 'sessions')).map((path) => readFileSync(path, 'latin1'));
  for (const canary of canaries) {
    for (const text of [frames, said, ...files]) expect(text.includes(canary), `"${canary}" came out`).toBe(false);
  }
}

/** A tree beside the workspace that nothing may touch. */
function makeDecoy({ home }: BuiltServer): string {
  const decoy = join(home, 'decoy');
  mkdirSync(join(decoy, 'deeper'), { recursive: true });
  for (const name of ['one', 'deeper/two']) writeFileSync(join(decoy, name), name);
  return decoy;
}

function treeHash(folder: string): string {
  const hash = createHash('sha256');
  for (const path of filesBelow(folder).sort())
    hash.update(`${path}\0${statSync(path).mode}\0`).update(readFileSync(path));
  return hash.digest('hex');
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // The process ended while we looked.
    return '';
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // As above.
    return '';
  }
}
