/**
 * Tests whether a jail works on this machine, by a command that tries to escape from one.
 */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../base/errors.ts';
import type { ProcessHost } from '../process-host.ts';
import type { JailMechanism, JailPlace } from './place.ts';
import type { TemporaryFolders } from './temporary-folder.ts';

/** Options of `tryJail`. */
export interface JailTrial {
  readonly host: ProcessHost;
  /** Absolute path; recreated, and removed afterwards. */
  readonly folder: string;
  readonly timeoutMs: number;
  readonly folders: TemporaryFolders;
}

/** Meanings of the exit codes of the script below. */
const FAILURES: Readonly<Record<number, string>> = {
  11: 'a command in it could write to a file outside',
  12: 'a command in it could open a socket',
  13: 'a command in it could send a signal',
  14: 'a command in it could not use its temporary folder',
};

const SCRIPT = `exec 2>/dev/null
{ : >"$OUTSIDE/written"; } && exit 11
{ : >/dev/udp/127.0.0.1/9; } && exit 12
kill -0 $PPID && exit 13
{ : >"$TMPDIR/written"; } || exit 14
exit 0`;

/** Try a mechanism. @returns The reason why it does not hold, as a clause; `undefined` if it does. */
export async function tryJail(
  { host, folder, timeoutMs, folders }: JailTrial,
  mechanism: Pick<JailMechanism, 'open'>,
): Promise<string | undefined> {
  const outside = join(folder, 'outside');
  const place = trialPlace(join(folder, 'session'), join(folder, 'inside'));
  try {
    rmSync(folder, { recursive: true, force: true });
    for (const path of [outside, ...place.folders]) mkdirSync(path, { recursive: true, mode: 0o700 });
    // World-writable, so that only the jail prevents the command from writing there.
    chmodSync(outside, 0o777);
    const { request, userId } = await mechanism.open(place, { masks: [], isWritable: false, isFresh: true });
    const temporaryFolder = folders.take(place, userId);
    const child = host.spawn({
      ...{ file: 'bash', args: [], cwd: folder, shellScript: SCRIPT, ...request },
      env: { OUTSIDE: outside, TMPDIR: temporaryFolder },
    });
    const timer = setTimeout(() => void child.killTree(), timeoutMs);
    const { code } = await child.exited.finally(() => clearTimeout(timer));
    await folders.release(temporaryFolder);
    if (code === 0) return undefined;
    return FAILURES[code ?? -1] ?? `a command in it ended with ${String(code ?? 'a signal')}`;
  } catch (error) {
    return errorMessage(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function trialPlace(sessionFolder: string, inside: string): JailPlace {
  const denials = { version: 0, isDenied: () => false, mayDenyBelow: () => false, places: () => [] };
  return { principal: '', sessionId: 'trial', folders: [inside], sessionFolder, denials };
}
