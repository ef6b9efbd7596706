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
import { block, until, wireClient, type WireClient } from './wire-client.ts';

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
/** No test makes a server hold more than two thirds of it; an output that is kept whole takes more. */
const HIGHEST_MIB = 640;

/** Of the server, for a host of its own: its socket, and what it says on standard error. */
const PROCESS_HOST_DESCRIPTORS = 2;

/** Watch a server: one call goes through it first, so that what is made once is made. */
export async function watchHealth(server: BuiltServer, options: HealthOptions = {}): Promise<WatchedHealth> {
  const client = wireClient(server);
  const sessionId = await client.session({ mode: 'bypassPermissions' });
  await client.execute(sessionId, [block('Bash', { command: 'true' })]);
  const decoy = makeDecoy(server);
  const decoyBefore = treeHash(decoy);
  const seen = await allLogs(client);
  const descriptorsBefore = ownDescriptors(server).length;
  const memory = pollMemory(server.pid);

  return {
    memoryPeakMiB: memory.peakMiB,
    async assertHealthy(next = server) {
      memory.stop();
      const after = wireClient(next);
      const frames = await assertLogs(after, seen, options.mayHaveOpenCalls === true);
      await assertNoProcesses(next);
      if (next === server) await assertDescriptors(server, descriptorsBefore);
      if (options.memoryMiB !== undefined) expect(memory.peakMiB()).toBeLessThan(options.memoryMiB);
      assertNoSecrets([server, next], frames, [server.token, ...(options.canaries ?? [])]);
      expect(treeHash(decoy)).toBe(decoyBefore);
    },
  };
}

/** What a server of the tests held when it began to listen, and what it may hold at the end. */
export interface HealthAtStart {
  readonly descriptors: number;
  /** Words in the command lines of processes that live as long as the server. */
  readonly mayKeep: readonly string[];
}

/** To be called when it listens. */
export function healthAtStart(server: BuiltServer, mayKeep: readonly string[] = []): HealthAtStart {
  const toCome = hasProcessHost(server) ? 0 : PROCESS_HOST_DESCRIPTORS;
  return { descriptors: ownDescriptors(server).length + toCome, mayKeep };
}

/**
 * The oracles that every server of the tests is held to before it is ended, whatever its tests did: what was still
 * open is cancelled, and then each call has its one result, nothing runs, nothing is held and the token is nowhere.
 */
export async function assertEndsHealthy(server: BuiltServer, { descriptors, mayKeep }: HealthAtStart): Promise<void> {
  const client = wireClient(server);
  for await (const ids of sessionPages(client)) {
    await Promise.all(ids.map((id) => client.post(`/sessions/${id}/cancel`)));
  }
  const frames = await assertLogs(client, new Map(), false);
  await assertNoProcesses(server, mayKeep);
  if (mayKeep.length === 0) await assertDescriptors(server, descriptors);
  expect(highestMiB(server)).toBeLessThan(HIGHEST_MIB);
  assertNoSecrets([server], frames, [server.token]);
}

/** Of each session. */
type SessionLogs = ReadonlyMap<string, SessionLog>;

interface SessionLog {
  readonly frames: readonly ClientSideFrame[];
  /** Numbers whose frames are no more, as the server says. */
  readonly missing: readonly number[];
}

/** O1: each session's frames are numbered without a hole, what was seen stands unchanged, each call ended once. */
async function assertLogs(client: WireClient, before: SessionLogs, mayHaveOpenCalls: boolean): Promise<SessionLogs> {
  const sessions = await until(async () => {
    const logs = await allLogs(client);
    return (mayHaveOpenCalls || [...logs.values()].every(isSettledLog)) && logs;
  });
  for (const [sessionId, { frames, missing }] of sessions) {
    const numbers = frames.map(({ seq }) => Number(seq));
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    const all = [...numbers, ...missing].sort((one, other) => one - other);
    expect(all).toEqual(all.map((_number, index) => index + 1));
    const seen = before.get(sessionId)?.frames ?? [];
    expect(frames.slice(0, seen.length)).toEqual(seen);
    const ended = frames.flatMap(({ type, tool_use_id }) => (type === 'result' ? [tool_use_id] : []));
    expect(new Set(ended).size).toBe(ended.length);
    if (missing.length === 0) expect(acceptedIds(frames)).toEqual(expect.arrayContaining(ended));
  }
  return sessions;
}

/** All calls whose frames are there have a result, or its frame is no more. */
function isSettledLog({ frames, missing }: SessionLog): boolean {
  const ended = new Set(frames.map(({ type, tool_use_id }) => type === 'result' && tool_use_id));
  return acceptedIds(frames).filter((id) => !ended.has(id)).length <= missing.length;
}

function acceptedIds(frames: readonly ClientSideFrame[]): (string | undefined)[] {
  return frames.flatMap(({ type, tool_use }) => (type === NEEDS_RESULT ? [(tool_use as { id: string }).id] : []));
}

async function allLogs(client: WireClient): Promise<SessionLogs> {
  const logs = new Map<string, SessionLog>();
  for await (const ids of sessionPages(client)) {
    const pages = ids.map(async (id) => [id, await everyPage(client, id)] as const);
    for (const [id, log] of await Promise.all(pages)) logs.set(id, log);
  }
  return logs;
}

async function* sessionPages(client: WireClient): AsyncGenerator<readonly string[]> {
  for (let query: string | undefined = ''; query !== undefined;) {
    const { status, body, text } = await client.get(`/sessions${query}`);
    if (status !== 200) throw new Error(`No list of sessions: ${text}`);
    yield body.sessions.map(({ session_id: id }) => id);
    const next = body['next_cursor'];
    query = next === undefined ? undefined : `?cursor=${String(next)}`;
  }
}

async function everyPage(client: WireClient, sessionId: string): Promise<SessionLog> {
  const frames: ClientSideFrame[] = [];
  const missing = new Set<number>();
  for (;;) {
    const { status, body } = await client.get(`/sessions/${sessionId}/events?from_seq=${frames.at(-1)?.seq ?? 0}`);
    // Removed between the listing and the look.
    if (status === 404 || status === 410) return { frames: [], missing: [] };
    frames.push(...body.frames);
    for (const { from, to } of (body['gaps'] ?? []) as { from: number; to: number }[])
      for (let seq = from; seq <= to; seq++) missing.add(seq);
    if (body['up_to_date'] === true || body.frames.length === 0) return { frames, missing: [...missing] };
  }
}

/** O2: nobody carries the server's marker but the shells that wait for their first order. */
async function assertNoProcesses(server: BuiltServer, mayKeep: readonly string[] = []): Promise<void> {
  const left = () =>
    survivorsOf(server)
      .map(commandOf)
      .filter((command) => !mayKeep.some((word) => command.includes(word)));
  await until(() => Promise.resolve(left().length === 0)).catch((error: unknown) => {
    throw new Error(`Still running: ${left().join('; ')}`, { cause: error });
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

/** A server listens first and starts its host right after. */
function hasProcessHost({ pid }: Pick<BuiltServer, 'pid'>): boolean {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return children.some((child) => commandOf(child).includes('process-host'));
}

function commandOf(pid: number): string {
  return textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
}

/** O2: descriptors are given back, clients' connections not counted. */
async function assertDescriptors(server: BuiltServer, before: number): Promise<void> {
  await until(() => Promise.resolve(ownDescriptors(server).length <= before)).catch((error: unknown) => {
    throw new Error(`More descriptors than ${before}: ${ownDescriptors(server).join(' ')}`, { cause: error });
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

/** O3: what it held at most since it began. */
function highestMiB({ pid }: BuiltServer): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/status`))?.[1]) / 1_024;
}

/** O4: canaries stand neither in what the servers said nor in what they kept of sessions. */
function assertNoSecrets(servers: readonly BuiltServer[], logs: SessionLogs, canaries: readonly string[]): void {
  const said = servers.map((server) => server.printed() + server.logged());
  const kept = new Set(servers.flatMap(({ dataFolder }) => filesBelow(join(dataFolder, 'sessions'))));
  const files = [...kept].map((path) => readFileSync(path, 'latin1'));
  for (const text of [JSON.stringify([...logs.values()]), ...said, ...files]) {
    for (const canary of canaries) expect(text.includes(canary), `"${canary}" came out`).toBe(false);
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
