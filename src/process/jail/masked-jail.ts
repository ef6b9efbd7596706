/**
 * The jail of bubblewrap: a machine that holds nothing but what its command may read, with masks over what it may not.
 *
 * It takes some milliseconds a command where Landlock takes none, and so it is for what Landlock cannot do.
 */
import { lstatSync, mkdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GauntletError } from '../../base/errors.ts';
import { jailCommand, type Mount } from '../sandbox/bwrap.ts';
import { trySandbox } from '../sandbox/trial.ts';
import { jailFilter } from '../system-call-filter.ts';
import { COMMON_READS } from './landlock-jail.ts';
import { identityOf } from './path-identity.ts';
import type { JailMechanism, JailPlace } from './place.ts';
import { GIT_FILES } from './system-paths.ts';
import { rememberTrial } from './remembered-trial.ts';
import type { TemporaryFolders } from './temporary-folder.ts';

/** Parts of the jail. */
export interface MaskedJailOptions {
  /** Absolute; the jail's own. */
  readonly folder: string;
  /** Whose settings of git are read: absolute. */
  readonly homeFolder: string;
  readonly timeoutMs: number;
  readonly folders: TemporaryFolders;
}

/** Make it; bubblewrap is looked for when it is first wanted. */
export function createMaskedJail({ folder, homeFolder, timeoutMs, folders }: MaskedJailOptions): JailMechanism {
  const filterPath = join(folder, 'filter');
  const gitFiles = GIT_FILES.map((name) => join(homeFolder, name));
  const supported = rememberTrial(async () => {
    const filter = jailFilter(process.arch, true);
    if (filter === undefined) return { missing: `the numbers of system calls on ${process.arch} are not known` };
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(filterPath, filter, { mode: 0o600 });
    const command = jailCommand(presentMounts(COMMON_READS));
    return { missing: await trySandbox({ command, files: [filterPath] }, timeoutMs) };
  });

  function mountsOf(place: JailPlace, masks: readonly Mount[]): readonly Mount[] {
    const base = folders.base(place, undefined);
    return [
      ...presentMounts([...COMMON_READS, ...gitFiles, ...place.folders, place.sessionFolder]),
      { path: base, access: 'write', isFolder: true },
      ...masks,
    ];
  }

  return {
    missing: async () => (await supported()).missing,
    async open(place, { masks, isWritable }) {
      if (isWritable) throw new GauntletError('contained', 'Cannot open a jail of bubblewrap for writing');
      const { missing } = await supported();
      if (missing !== undefined) throw new GauntletError('contained', `Cannot open a jail for the command: ${missing}`);
      const mounts = mountsOf(place, masks);
      const identity = [
        place.principal,
        place.sessionId,
        place.denials.version,
        ...mounts.map(({ path }) => identityOf(path)),
      ].join('\0');
      const launcher = { command: jailCommand(mounts), files: [filterPath], identity, isLimited: true };
      return { request: { launcher }, userId: undefined };
    },
  };
}

/** Those that exist, for reading. A link is made again where its folder is not there as a whole (`/bin`). */
function presentMounts(paths: readonly string[]): readonly Mount[] {
  return [...new Set(paths)].flatMap((path): readonly Mount[] => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    if (stats.isSymbolicLink())
      return dirname(path) === '/' ? [{ path, access: 'read', isFolder: false, linksTo: readlinkSync(path) }] : [];
    return [{ path, access: 'read', isFolder: stats.isDirectory() }];
  });
}
