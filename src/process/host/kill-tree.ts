/**
 * End a group and everyone who left it: TERM, after a grace KILL, then a sweep for the marker.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { findMarkedProcesses, hasLivingMembers } from './survivors.ts';
import type { KillTreeMessage } from './messages.ts';

const POLL_MS = 5;
const SLOWEST_POLL_MS = 50;
/** Rounds of a sweep: whoever forks faster than it is killed is met again in the next one. */
const SWEEP_ROUNDS = 50;
/** Ids cannot run once around in this time, so that the young ones are those born since. */
const YOUNG_MS = 1_000;

/** End the tree of one call. Resolves when none of it is left that a signal can end. */
export async function killTree(tree: KillTreeMessage, killGraceMs: number): Promise<void> {
  if (tree.hasGroup) await endGroup(tree.pid, killGraceMs);
  await sweep((marker) => marker === tree.marker, tree.ageMs < YOUNG_MS ? tree.pid : 0);
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
