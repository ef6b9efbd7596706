/**
 * The Landlock jail: a ruleset in the process host for each principal, session, set of folders and version of rules.
 *
 * It costs one descriptor and almost no time, but cannot exclude a path from a folder that it opens.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { GauntletError } from '../../base/errors.ts';
import type { JailHost, JailSupport } from '../process-host.ts';
import { ripgrepPath } from '../ripgrep.ts';
import { identityOf, SETTINGS_FOLDER } from './path-identity.ts';
import type { JailMechanism, JailPlace, OpenJailOptions } from './place.ts';
import { DEVICES, GIT_FILES, KERNEL_FOLDERS, SYSTEM_FILES, SYSTEM_FOLDERS } from './system-paths.ts';
import { cacheTrial } from './cached-trial.ts';
import type { TemporaryFolders } from './temporary-folder.ts';

/** Options of `createLandlockJail`. */
export interface LandlockJailOptions {
  readonly host: JailHost;
  /** Absolute path of the home folder whose git settings are readable. */
  readonly homeFolder: string;
  readonly folders: TemporaryFolders;
  /** Tests whether a jail works. @returns The reason, as a clause, if it does not. */
  trial(mechanism: Pick<JailMechanism, 'open'>): Promise<string | undefined>;
}

/** Paths that every jail on this machine may read, in addition to the folders of its place. */
export const COMMON_READS: readonly string[] = [
  ...SYSTEM_FOLDERS,
  ...SYSTEM_FILES,
  ...KERNEL_FOLDERS,
  ...DEVICES,
  ripgrepPath,
  process.execPath,
];

/** Maximum of jails remembered as open; the host keeps some more. */
const MAX_OPEN = 100;
/** Longest delay until jails notice that a system file was replaced. */
const IDENTITY_MS = 1_000;

/** Create the mechanism. The host is not contacted before the first command. */
export function createLandlockJail({ host, homeFolder, folders, trial }: LandlockJailOptions): JailMechanism {
  const opened = new LRUCache<string, true>({ max: MAX_OPEN });
  const gitFiles = GIT_FILES.map((name) => join(homeFolder, name));
  const machineIdentity = cacheIdentity([SETTINGS_FOLDER, ...gitFiles]);
  const supported: () => Promise<JailSupport> = cacheTrial(async () => {
    const found = await host.jailSupport();
    const missing = found.missing ?? (await trial({ open: (place, options) => open(place, options, found.userId) }));
    return { ...found, missing };
  });

  async function open(place: JailPlace, { isWritable, isFresh }: OpenJailOptions, nobody: number | undefined) {
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

/** Key of a ruleset, from everything it depends on. It contains inodes, so a replaced folder gives another key. */
function keyOf({ principal, sessionId, denials }: JailPlace, isWritable: boolean, paths: readonly string[]): string {
  return [isWritable, principal, sessionId, denials.version, ...paths.map(identityOf)].join('\n');
}

/** Cache the identity of some paths for `IDENTITY_MS`: they rarely change, and every command needs it. */
function cacheIdentity(paths: readonly string[]): () => string {
  let known = '';
  let checkedMs = -Infinity;
  return () => {
    const nowMs = performance.now();
    if (nowMs - checkedMs < IDENTITY_MS) return known;
    checkedMs = nowMs;
    return (known = createHash('sha1').update(paths.map(identityOf).join('\n')).digest('base64'));
  };
}
