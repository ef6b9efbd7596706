/**
 * Descriptors that whoever started the server left open: no child of ours may have them.
 */
import { closeSync, readFileSync, readdirSync } from 'node:fs';

/** Of each descriptor, what it was opened with. */
const DESCRIPTORS = '/proc/self/fdinfo';
/** @see fcntl.h, O_CLOEXEC */
const CLOSED_ON_EXEC = 0o2000000;

/** Close those above `lastKept` that a child would inherit; Node's own it would not. Without `/proc` nothing is known. */
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
    // A machine without `/proc`.
    return [];
  }
}

function isInheritable(descriptor: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s*(\d+)/m.exec(readFileSync(`${DESCRIPTORS}/${descriptor}`, 'utf8')) ?? [];
    return flags !== '' && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    // The one the listing itself was read with.
    return false;
  }
}
