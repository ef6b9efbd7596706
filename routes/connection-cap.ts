/**
 * How many sockets may be open: as many as the settings say, and no more than leave descriptors for the work.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Limits } from '../config/limits.ts';

/**
 * The most sockets the server takes at once.
 *
 * @returns `limits.connections`, or what this process may still open less `limits.reservedDescriptors`; at least 1.
 */
export function connectionCap(limits: Pick<Limits, 'connections' | 'reservedDescriptors'>): number {
  const free = mostDescriptors() - descriptorsInUse();
  return Math.max(1, Math.min(limits.connections, free - limits.reservedDescriptors));
}

/** @returns Infinity where the system does not tell. */
function mostDescriptors(): number {
  const [, most] = /^Max open files\s+(\d+)/m.exec(tell(() => readFileSync('/proc/self/limits', 'utf8')) ?? '') ?? [];
  return most === undefined ? Infinity : Number(most);
}

function descriptorsInUse(): number {
  return tell(() => readdirSync('/proc/self/fd'))?.length ?? 0;
}

function tell<Answer>(look: () => Answer): Answer | undefined {
  try {
    return look();
  } catch {
    // There is no /proc: then only the settings bound the connections.
    return undefined;
  }
}
