/**
 * The jail of Landlock: a ruleset in the process host for each principal, session, set of folders and version of rules.
 *
 * It costs a descriptor and next to no time, and cannot take anything out of a folder that it opens.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { GauntletError } from '../../base/errors.ts';
import type { JailHost, JailSupport } from '../process-host.ts';
import { ripgrepPath } from '../ripgrep.ts';
import { identityOf, SETTINGS_FOLDER } from './path-identity.ts';
import type { JailMechanism, JailPlace, JailWish } from './place.ts';
import { DEVICES, GIT_FILES, KERNEL_FOLDERS, SYSTEM_FILES, SYSTEM_FOLDERS } from './system-paths.ts';
import { rememberTrial } from './remembered-trial.ts';
import type { TemporaryFolders } from './temporary-folder.ts';

/** Parts of the jail. */
export interface LandlockJailOptions {
  readonly host: JailHost;
  /** Whose settings of git are read: absolute. */
  readonly homeFolder: string;
  readonly folders: TemporaryFolders;
  /** Finds out whether a jail holds. @returns Why not, as a clause. */
  trial(mechanism: Pick<JailMechanism, 'open'>): Promise<string | undefined>;
}

/** Paths that every jail of this machine reads, beside the folders of its place. */
export const COMMON_READS: readonly string[] = [
  ...SYSTEM_FOLDERS,
  ...SYSTEM_FILES,
  ...KERNEL_FOLDERS,
  ...DEVICES,
  ripgrepPath,
  process.execPath,
];

/** Jails known to be open; the host keeps some more. */
const MAX_OPEN = 100;
/** A file of the machine that is replaced is met by jails this much later at most. */
const IDENTITY_MS = 1_000;

/** Make it. Nothing is asked of the host before the first command. */
export function createLandlockJail({ host, homeFolder, folders, trial }: LandlockJailOptions): JailMechanism {
  const opened = new LRUCache<string, true>({ max: MAX_OPEN });
  const gitFiles = GIT_FILES.map((name) => join(homeFolder, name));
  const machineIdentity = rememberIdentity([SETTINGS_FOLDER, ...gitFiles]);
  const supported: () => Promise<JailSupport> = rememberTrial(async () => {
    const found = await host.jailSupport();
    const missing = found.missing ?? (await trial({ open: (place, wish) => open(place, wish, found.userId) }));
    return { ...found, missing };
  });

  async function open(place: JailPlace, { isWritable, isFresh }: JailWish, nobody: number | undefined) {
    const userId = isWritable ? undefined : nobody;
    const base = folders.base(place, userId);
    const key = [keyOf(place, isWritable, [...place.folders, base]), machineIdentity()].join('\n');
    const common = [...COMMON_READS, ...gitFiles, place.sessionFolder];
    const rules = isWritable
      ? { reads: common, writes: [...place.folders, base] }
      : { reads: [...common, ...place.folders], writes: [base] };
    if (isFresh || !opened.get(key)) {
      const owner = [isWritable, place.principal, place.sessionId].join('\n');
      const failure = await host.openJail({ key, owner, ...rules, isReadOnly: !isWritable });
      if (failure !== undefined) throw new GauntletError('contained', `Cannot open a jail for the command: ${failure}`);
      opened.set(key, true);
    }
    return { request: { jail: key }, userId };
  }

  return {
    missing: async () => (await supported()).missing,
    open: async (place, wish) => open(place, wish, (await supported()).userId),
  };
}

/** All that a ruleset was made of for a place: a folder that was replaced since is another one. */
function keyOf({ principal, sessionId, denials }: JailPlace, isWritable: boolean, paths: readonly string[]): string {
  return [isWritable, principal, sessionId, denials.version, ...paths.map(identityOf)].join('\n');
}

/** Remembers for `IDENTITY_MS` which files some paths are: they change seldom, and are asked for at every command. */
function rememberIdentity(paths: readonly string[]): () => string {
  let known = '';
  let lookedMs = -Infinity;
  return () => {
    const nowMs = performance.now();
    if (nowMs - lookedMs < IDENTITY_MS) return known;
    lookedMs = nowMs;
    return (known = createHash('sha1').update(paths.map(identityOf).join('\n')).digest('base64'));
  };
}
