/**
 * Closes descriptors that the server's own parent left open, so that no child inherits them.
 */
import { closeSync, readFileSync, readdirSync } from 'node:fs';

/** One file for each descriptor, with the flags it was opened with. */
const DESCRIPTORS = '/proc/self/fdinfo';
/** @see fcntl.h, O_CLOEXEC */
const CLOSED_ON_EXEC = 0o2000000;

/**
 * Close the descriptors above `lastKept` that a child would inherit; Node's own are close-on-exec. A no-op without
 * `/proc`.
 */
export function closeInherited(lastKept: number): void {
  for (const name of descriptors()) {
    const descriptor = Number(name);
    if (descriptor > lastKept && isInheritable(descriptor)) closeSync(descriptor);
  }
}

function descriptors(): readonly string[] {
  try {
    return readdirSync(DESCRIPTORS);
  } catch {
    // No `/proc` on this machine.
    return [];
  }
}

function isInheritable(descriptor: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s*(\d+)/m.exec(readFileSync(`${DESCRIPTORS}/${descriptor}`, 'utf8')) ?? [];
    return flags !== '' && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    // The descriptor of the listing itself, closed by now.
    return false;
  }
}
