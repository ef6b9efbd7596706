/**
 * The jail of commands that only read: what it costs a command, and what a further jail takes.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { type Call, oneByOne, together } from '../load.ts';
import { type Row, short } from '../row.ts';
import { type RunningServer, startOurs } from '../servers.ts';
import { inTurn, type Pair } from '../statistics.ts';

const SESSIONS = 64;
/** Jails that keep a shell. */
const JAILS = 8;
/** A model takes longer than this between two calls. */
const PAUSE_MS = 20;
const ECHO = { name: 'Bash', input: { command: 'echo hi' } };
const READING = { command: 'ls | grep -c a; sort <<< b | head -1; wc -l < /dev/null' };

/** `echo hi` in the jail against the same held by its words alone, both ours. */
export async function jailRows(): Promise<readonly Row[]> {
  const held = await startOurs([], { permissions: {} });
  const bare = await startOurs([], { permissions: {}, containment: { scope: 'off' } });
  try {
    const memoryMiB = await memoryOfJail(held);
    const oneAfterAnother = async (call: Call, each: { count: number; pauseMs?: number }) =>
      inTurn(5, await oneByOne(held, call, each), await oneByOne(bare, call, each));
    const load = { clients: SESSIONS, forMs: 3_000 };
    const rates = await inTurn(5, await together(bare, ECHO, load), await together(held, ECHO, load));
    return [
      row('jailed `echo hi`, calls 20 ms apart, p50 ms', await oneAfterAnother(ECHO, { count: 60, pauseMs: PAUSE_MS })),
      row('the same, one right after another', await oneAfterAnother(ECHO, { count: 80 })),
      row(
        'a jailed line of five programs, p50 ms',
        await oneAfterAnother({ name: 'Bash', input: READING }, { count: 40, pauseMs: PAUSE_MS }),
      ),
      {
        what: `jailed \`echo hi\`, calls/s, ${SESSIONS} sessions`,
        toReach: 'without at most 1.05 times as many',
        measured: `${short(rates.ours)} without / ${short(rates.floor)} = ${short(rates.ratio)}`,
        isReached: rates.ratio <= 1.05,
      },
      {
        what: 'memory of each further jail and its shell, MiB',
        toReach: 'less than 8',
        measured: short(memoryMiB),
        isReached: memoryMiB < 8,
      },
    ];
  } finally {
    await held.stop();
    await bare.stop();
  }
}

function row(what: string, pair: Pair): Row {
  return {
    what,
    toReach: 'at most 1.05 of without',
    measured: `${short(pair.ours)} / ${short(pair.floor)} = ${short(pair.ratio)}`,
    isReached: pair.ratio <= 1.05,
  };
}

/** What the server and its children have more, for each jail after the first. */
async function memoryOfJail(server: RunningServer): Promise<number> {
  const call = async () => (await oneByOne(server, ECHO, { count: 3 }))();
  await call();
  const beforeKiB = proportionalKiB(server.pid);
  for (let jail = 0; jail < JAILS - 1; jail++) await call();
  return (proportionalKiB(server.pid) - beforeKiB) / (JAILS - 1) / 1_024;
}

/** Memory of a process and all below it, what is shared counted in parts. */
function proportionalKiB(pid: number): number {
  const parents = readdirSync('/proc')
    .map(Number)
    .filter(Number.isInteger)
    .map((each) => [each, parentOf(each)] as const);
  const below = (parent: number): number[] => [
    parent,
    ...parents.flatMap(([each, its]) => (its === parent ? below(each) : [])),
  ];
  return below(pid).reduce((sum, each) => sum + ownKiB(each), 0);
}

function parentOf(pid: number): number | undefined {
  return Number(
    readOrNothing(`/proc/${pid}/stat`)
      .replace(/^.*\) \S /s, '')
      .split(' ')[0],
  );
}

function ownKiB(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readOrNothing(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // It has ended since the listing.
    return '';
  }
}
