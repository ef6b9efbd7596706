/**
 * Calls one after another as an agent makes them, and what the first ones cost after a start.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { type Row, short } from '../row.ts';
import { type RunningServer, startFloor, startOurs } from '../servers.ts';
import { callingSocket } from '../sessions.ts';
import { inTurn, median, medianMs, perSecond } from '../statistics.ts';
import { plantFile } from './socket.ts';

const SOCKETS = 64;
const STARTS = 5;
/** Kernel ticks that `/proc/PID/stat` counts in. */
const TICK_MS = 10;
const ECHO = { command: 'echo hi' };
const TODO = { todos: [{ content: 'Measure', status: 'pending', activeForm: 'Measuring' }] };

/** Reads of many sockets, commands of one, against the bare server. */
export async function inTurnRows(ours: RunningServer, floor: RunningServer): Promise<readonly Row[]> {
  const reads = await inTurn(3, await readsOfMany(ours, true), await readsOfMany(floor, false));
  const echoes = await inTurn(5, await echoesInTurn(ours, true), await echoesInTurn(floor, false));
  const todoMs = await todoProcessorMs(ours);
  return [
    {
      what: `Read 10 KB over the WebSocket, calls/s, ${SOCKETS} connections`,
      toReach: 'at least 0.7 floor',
      measured: `${short(reads.ours)} / ${short(reads.floor)} = ${short(reads.ratio)}`,
      isReached: reads.ratio >= 0.7,
    },
    {
      what: '`echo hi` over the WebSocket, one after another, p50 ms',
      toReach: 'at most 1.0 floor',
      measured: `${short(echoes.ours)} / ${short(echoes.floor)} = ${short(echoes.ratio)}`,
      isReached: echoes.ratio <= 1,
    },
    {
      what: 'processor time of one TodoWrite, one after another, ms',
      toReach: 'at most 0.4',
      measured: short(todoMs),
      isReached: todoMs <= 0.4,
    },
  ];
}

/** From nothing to the first command answered, and what the server then holds. */
export async function firstCommandRows(): Promise<readonly Row[]> {
  const firstCalls: number[] = [];
  const started = await inTurn(
    STARTS,
    () =>
      startToEcho(
        () => startOurs([]),
        true,
        (ms) => firstCalls.push(ms),
      ),
    () => startToEcho(() => startFloor(), false),
  );
  const heldMiB = await heldAfterCommands();
  return [
    {
      what: 'first Bash call after the start, ms',
      toReach: 'at most 25',
      measured: short(median(firstCalls)),
      isReached: median(firstCalls) <= 25,
    },
    {
      what: 'start to the first command answered, ms',
      toReach: 'at most 300',
      measured: `${short(started.ours)} / ${short(started.floor)} = ${short(started.ratio)}`,
      isReached: started.ours <= 300,
    },
    {
      what: 'memory of server, host, a jail and waiting shells (PSS), MiB',
      toReach: 'at most 95',
      measured: short(heldMiB),
      isReached: heldMiB <= 95,
    },
  ];
}

async function readsOfMany(server: RunningServer, isOurs: boolean): Promise<() => Promise<number>> {
  const file_path = plantFile(server);
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => callingSocket(server, isOurs)));
  return () => perSecond(SOCKETS, 2_000, (client) => sockets[client]?.call('Read', { file_path }) ?? Promise.resolve());
}

async function echoesInTurn(server: RunningServer, isOurs: boolean): Promise<() => Promise<number>> {
  const socket = await callingSocket(server, isOurs);
  return () => medianMs(60, () => socket.call('Bash', ECHO));
}

async function todoProcessorMs(server: RunningServer): Promise<number> {
  const calls = 1_000;
  const socket = await callingSocket(server, true);
  await medianMs(200, () => socket.call('TodoWrite', TODO));
  const beforeMs = processorMs(server.pid);
  await medianMs(calls, () => socket.call('TodoWrite', TODO));
  return (processorMs(server.pid) - beforeMs) / calls;
}

async function startToEcho(
  start: () => Promise<RunningServer>,
  isOurs: boolean,
  onFirstCall?: (ms: number) => void,
): Promise<number> {
  const begunMs = performance.now();
  const server = await start();
  const socket = await callingSocket(server, isOurs);
  const calledMs = performance.now();
  await socket.call('Bash', ECHO);
  onFirstCall?.(performance.now() - calledMs);
  const tookMs = performance.now() - begunMs;
  await server.stop();
  return tookMs;
}

async function heldAfterCommands(): Promise<number> {
  const server = await startOurs([]);
  try {
    const socket = await callingSocket(server, true);
    await medianMs(20, () => socket.call('Bash', ECHO));
    return pssMiB([server.pid, ...childrenOf(server.pid)]);
  } finally {
    await server.stop();
  }
}

/** User and system time of a process so far. @see proc(5), fields 14 and 15 of `/proc/PID/stat` */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** All processes below one. */
function childrenOf(pid: number): readonly number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const parent = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ')[1];
        return [[Number(name), Number(parent)] as const];
      } catch {
        // It has ended since it was listed.
        return [];
      }
    });
  const below = (of: number): readonly number[] =>
    parents.flatMap(([child, parent]) => (parent === of ? [child, ...below(child)] : []));
  return below(pid);
}

/** Memory that processes hold together, shared pages divided among those that share them. */
function pssMiB(pids: readonly number[]): number {
  const sumKiB = pids.reduce((sum, pid) => {
    const [, kib = '0'] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
    return sum + Number(kib);
  }, 0);
  return sumKiB / 1_024;
}
