/**
 * One descriptor kept back, so that whoever is left of a call is found when no other is free: a host whose
 * commands used them all up must still be able to end those commands.
 */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

const PLACEHOLDER = '/dev/null';

let spare = open();

/** The names in a folder. @throws The errno error, `EMFILE` only where not even the spare one is there. */
export function listFolder(path: string): string[] {
  return withDescriptor(() => readdirSync(path));
}

/** A file, whole. @throws As `listFolder`. */
export function readWhole(path: string): Buffer {
  return withDescriptor(() => readFileSync(path));
}

/** All of it is synchronous, so nobody takes the descriptor between its release and the look. */
function withDescriptor<Found>(look: () => Found): Found {
  try {
    return look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE' || spare === undefined) throw error;
  }
  closeSync(spare);
  try {
    return look();
  } finally {
    spare = open();
  }
}

function open(): number | undefined {
  try {
    return openSync(PLACEHOLDER, 'r');
  } catch {
    // None is free now; the next look that fails is told so.
    return undefined;
  }
}
