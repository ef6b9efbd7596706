/**
 * Limits of each process in a jail, and the options of `ulimit` that set them. A failure to set one is ignored, since a
 * lower limit in effect is sufficient.
 */
import { readFileSync } from 'node:fs';
import type { Limits } from '../../../config/limits.ts';

/** Fixed limits. `processes` come on top of all that run on the machine when the command begins. */
export const JAIL_LIMITS = { processes: 256, cpuSeconds: 10 * 60, fileBytes: 256 * 1_024 * 1_024 } as const;

/** Return the options for all limits. */
export function limitOptions({ jailMemoryBytes }: Pick<Limits, 'jailMemoryBytes'>): string {
  const { cpuSeconds, fileBytes } = JAIL_LIMITS;
  return `-c 0 -t ${cpuSeconds} -f ${inKib(fileBytes)} -d ${inKib(jailMemoryBytes)} ${processLimit()}`;
}

/**
 * Return the option for the number of processes. The kernel counts all processes of a user, so those that run are
 * added.
 */
export function processLimit(): string {
  return `-u ${tasksOfTheMachine() + JAIL_LIMITS.processes}`;
}

/** Convert to the unit of `ulimit`. */
function inKib(bytes: number): number {
  return Math.ceil(bytes / 1_024);
}

/** Number of threads of all users, an upper bound for those of one user; 0 if unknown. */
function tasksOfTheMachine(): number {
  try {
    return Number(/\/(\d+)/.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? 0);
  } catch {
    // No /proc: the limit is the setting alone.
    return 0;
  }
}
