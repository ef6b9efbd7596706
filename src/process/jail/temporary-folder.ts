/**
 * The one place where a jailed command may write: a folder of its own, which goes when its call has ended.
 */
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { JailPlace } from './place.ts';

/** The folder that holds those of a session, made where it is missing. @param userId Whose it is; the server's by default. */
export function temporaryBase({ sessionFolder }: Pick<JailPlace, 'sessionFolder'>, userId: number | undefined): string {
  const base = join(sessionFolder, userId === undefined ? 'temporary' : `temporary-${userId}`);
  // Nearly always it is there; making folders on the way costs more than a look.
  if (existsSync(base)) return base;
  mkdirSync(base, { recursive: true, mode: 0o700 });
  giveTo(base, userId);
  return base;
}

/** Make the folder of one call. */
export function makeTemporary(base: string, userId: number | undefined): string {
  const folder = mkdtempSync(join(base, 'call-'));
  giveTo(folder, userId);
  return folder;
}

/** Remove the folder of a call, with whatever the command left in it. */
export async function removeTemporary(folder: string): Promise<void> {
  try {
    rmdirSync(folder);
  } catch {
    // It is not empty: removing what is in it may take long, and must not hold up the server.
    await rm(folder, { recursive: true, force: true });
  }
}

function giveTo(folder: string, userId: number | undefined): void {
  if (userId !== undefined) chownSync(folder, userId, userId);
}
