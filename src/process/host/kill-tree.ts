/**
 * End a group and everyone who left it: TERM, after a grace KILL, then a sweep for the marker.
 */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { KillTreeMessage } from './messages.ts';
import { findMarkedProcesses, hasLivingMembers, youngestProcess } from './survivors.ts';

const POLL_MS = 5;
const SLOWEST_POLL_MS = 50;
/** Rounds of a sweep: whoever forks faster than it is killed is met again in the next one. */
const SWEEP_ROUNDS = 50;
/** Ids cannot run once around in this time, so that the young ones are those born since. */
const YOUNG_MS = 1_000;
/** On a busy host one look at /proc, some milliseconds, serves the trees of this long. */
const SWEEP_SPACING_MS = 10;

/** Ends the trees of calls. */
export interface TreeKiller {
  /** Resolves when none of it is left that a signal can end. */
  kill(tree: KillTreeMessage): Promise<void>;
}

/** Make a killer. @param isBusy Whether many calls end at once, so that they should share a sweep. */
export function createTreeKiller(killGraceMs: number, isBusy: () => boolean): TreeKiller {
  /** By marker, the id after which its processes were born. */
  let asked = new Map<string, number>();
  let sweeping: Promise<void> | undefined;
  let lastSweepMs = -Infinity;

  async function sweepAsked(): Promise<void> {
    await nextTurn();
    if (isBusy()) await delay(Math.max(0, lastSweepMs + SWEEP_SPACING_MS - performance.now()));
    const trees = asked;
    asked = new Map();
    sweeping = undefined;
    lastSweepMs = performance.now();
    await sweep((marker) => trees.has(marker), Math.min(...trees.values()));
  }

  return {
    async kill({ pid, marker, hasGroup, bornAfter, ageMs }) {
      if (hasGroup) await endGroup(pid, killGraceMs);
      const isYoung = bornAfter > 0 && ageMs < YOUNG_MS;
      // Where nobody was born since the call began, it has no descendants.
      if (isYoung && youngestProcess() === bornAfter) return;
      asked.set(marker, isYoung ? bornAfter : 0);
      await (sweeping ??= sweepAsked());
    },
  };
}

/** End one group: TERM, after the grace KILL. Resolves when it is gone. */
export async function endGroup(pid: number, killGraceMs: number): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM') || (await isGoneWithin(pid, killGraceMs))) return;
  signalGroup(pid, 'SIGKILL');
  // Not even KILL ends who is stuck in the kernel, so this wait ends too.
  await isGoneWithin(pid, killGraceMs);
}

/**
 * KILL everyone whose marker passes the test, until none is left.
 *
 * @returns How many were found.
 */
export async function sweep(isWanted: (marker: string) => boolean, bornAfter = 0): Promise<number> {
  const found = new Set<number>();
  for (let round = 0; round < SWEEP_ROUNDS; round += 1) {
    const pids = findMarkedProcesses(isWanted, bornAfter);
    if (pids.length === 0) break;
    for (const pid of pids) {
      found.add(pid);
      sendSignal(pid, 'SIGKILL');
    }
    await delay(POLL_MS);
  }
  return found.size;
}

/** Send one signal to a whole group. @returns Whether anybody was there. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  return sendSignal(-pid, signal);
}

function sendSignal(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    // EPERM: somebody is there whom we may not end (a set-user-id program); ESRCH: nobody is.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isGoneWithin(pid: number, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  let pauseMs = POLL_MS;
  while (signalGroup(pid, 0) && hasLivingMembers(pid)) {
    if (performance.now() > deadline) return false;
    await delay(pauseMs);
    pauseMs = Math.min(pauseMs * 2, SLOWEST_POLL_MS);
  }
  return true;
}
