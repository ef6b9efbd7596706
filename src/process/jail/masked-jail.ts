/**
 * The bubblewrap jail: a file system that holds only what its command may read, with masks over hidden paths.
 *
 * It costs some milliseconds a command, so it is used only where Landlock cannot be.
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
import { cacheTrial } from './cached-trial.ts';
import type { TemporaryFolders } from './temporary-folder.ts';

/** Options of `createMaskedJail`. */
export interface MaskedJailOptions {
  /** Absolute path of the jail's own folder. */
  readonly folder: string;
  /** Absolute path of the home folder whose git settings are readable. */
  readonly homeFolder: string;
  readonly timeoutMs: number;
  readonly folders: TemporaryFolders;
}

/** Descriptor of a program's first file, as `SpawnRequest.files` says. */
const FIRST_PROGRAM_FILE = 5;

/** Create the mechanism; bubblewrap is tried on first use. */
export function createMaskedJail({ folder, homeFolder, timeoutMs, folders }: MaskedJailOptions): JailMechanism {
  const filterPath = join(folder, 'filter');
  const gitFiles = GIT_FILES.map((name) => join(homeFolder, name));
  const supported = cacheTrial(async () => {
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
      const files = [filterPath];
      const launcher = { command: jailCommand(mounts), files, identity, isLimited: true };
      const programLauncher = { command: jailCommand(mounts, FIRST_PROGRAM_FILE), files };
      return { request: { launcher }, programLauncher, userId: undefined };
    },
  };
}

/** Read-only mounts of the paths that exist. A top-level link such as `/bin` is recreated; other links are left out. */
function presentMounts(paths: readonly string[]): readonly Mount[] {
  return [...new Set(paths)].flatMap((path): readonly Mount[] => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    if (stats.isSymbolicLink())
      return dirname(path) === '/' ? [{ path, access: 'read', isFolder: false, linksTo: readlinkSync(path) }] : [];
    return [{ path, access: 'read', isFolder: stats.isDirectory() }];
  });
}
