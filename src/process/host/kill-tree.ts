/**
 * Ends a process group and the processes that left it: TERM, KILL after a grace period, then a sweep for the marker.
 */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { KillTreeMessage } from './messages.ts';
import { findMarkedProcesses, hasLivingMembers, lastProcessId } from './survivors.ts';

const POLL_MS = 5;
const MAX_POLL_MS = 50;
/** Maximum of rounds in a sweep; each round finds the processes forked during the one before. */
const MAX_SWEEP_ROUNDS = 50;
/** Process ids cannot wrap around within this time, so a higher id means a younger process. */
const YOUNG_MS = 1_000;
/** On a busy host, trees that end within this time share one scan of /proc, which takes some milliseconds. */
const SWEEP_SPACING_MS = 10;

/** Ends the process trees of calls. */
export interface TreeKiller {
  /** Resolves when no process is left that a signal can end. */
  kill(tree: KillTreeMessage): Promise<void>;
}

/** Create the killer. @param isBusy True if many calls end at once, so that they should share a sweep. */
export function createTreeKiller(killGraceMs: number, isBusy: () => boolean): TreeKiller {
  /** By marker, the process id after which its processes were started. */
  let pendingTrees = new Map<string, number>();
  let sweeping: Promise<void> | undefined;
  let lastSweepMs = -Infinity;

  async function sweepPending(): Promise<void> {
    await nextTurn();
    if (isBusy()) await delay(Math.max(0, lastSweepMs + SWEEP_SPACING_MS - performance.now()));
    const trees = pendingTrees;
    pendingTrees = new Map();
    sweeping = undefined;
    lastSweepMs = performance.now();
    await sweep((marker) => trees.has(marker), Math.min(...trees.values()));
  }

  return {
    async kill({ pid, marker, hasGroup, bornAfter, ageMs }) {
      if (hasGroup) await endGroup(pid, killGraceMs);
      const isYoung = bornAfter > 0 && ageMs < YOUNG_MS;
      // No process was started since the call began, so it has no descendants.
      if (isYoung && lastProcessId() === bornAfter) return;
      pendingTrees.set(marker, isYoung ? bornAfter : 0);
      await (sweeping ??= sweepPending());
    },
  };
}

/** End one group: TERM, then KILL after the grace period. Resolves when it is gone. */
export async function endGroup(pid: number, killGraceMs: number): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM') || (await isGoneWithin(pid, killGraceMs))) return;
  signalGroup(pid, 'SIGKILL');
  // KILL does not end a process that is stuck in the kernel, so this wait is bounded too.
  await isGoneWithin(pid, killGraceMs);
}

/**
 * KILL every process whose marker passes the test, until none is left.
 *
 * @returns Number of processes found.
 */
export async function sweep(isWanted: (marker: string) => boolean, bornAfter = 0): Promise<number> {
  const found = new Set<number>();
  for (let round = 0; round < MAX_SWEEP_ROUNDS; round += 1) {
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

/** Send one signal to a whole group. @returns True if the group has members. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  return sendSignal(-pid, signal);
}

function sendSignal(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    // EPERM: a member exists that we may not signal (a set-user-id program); ESRCH: there is none.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isGoneWithin(pid: number, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  let pauseMs = POLL_MS;
  while (signalGroup(pid, 0) && hasLivingMembers(pid)) {
    if (performance.now() > deadline) return false;
    await delay(pauseMs);
    pauseMs = Math.min(pauseMs * 2, MAX_POLL_MS);
  }
  return true;
}
