/**
 * Holds commands that nobody was asked about: the words decided that they only read, the kernel sees to it.
 *
 * Landlock is the first choice. What a rule or the server hides inside a working directory is masked by bubblewrap.
 * A command that neither can hold is asked about.
 */
import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isInsideFolder } from '../../../config/containment.ts';
import type { Limits } from '../../../config/limits.ts';
import type { ContainmentSettings } from '../../../config/settings/containment.ts';
import { GauntletError, errorMessage } from '../../contract/errors.ts';
import type { CallHold } from '../../contract/tool.ts';
import type { JailHost, ProcessHost, SpawnRequest } from '../process-host.ts';
import type { Mount } from '../sandbox/bwrap.ts';
import { isNoJail } from '../spawn-error.ts';
import { COMMON_READS, createLandlockJail } from './landlock-jail.ts';
import { createMaskFinder } from './masks.ts';
import { createMaskedJail } from './masked-jail.ts';
import type { JailMechanism, JailPlace, JailWish } from './place.ts';
import { JAIL_PATH } from './system-paths.ts';
import { createTemporaryFolders } from './temporary-folder.ts';
import { tryJail } from './trial.ts';

/** What an operator decides, and what the server has. */
export interface JailOptions {
  readonly settings: ContainmentSettings;
  readonly host: ProcessHost & JailHost;
  /** The server's data directory, settings and token, which no command in a jail may read: absolute. */
  readonly ownPaths: readonly string[];
  /** The installation, which no command may change: absolute. */
  readonly readOnlyPaths: readonly string[];
  /** Absolute; the jail's own. */
  readonly folder: string;
  readonly limits: Limits;
  /** What masks; bubblewrap by default. */
  readonly masking?: JailMechanism;
  /** What the sandbox hides, where there is one: it is masked in jails too. */
  readonly hidden?: () => readonly Mount[];
}

/** What a command is given for the time of its call. */
export interface HeldRun {
  /** Added to a request, it starts the child in the jail. */
  readonly request: Pick<SpawnRequest, 'jail' | 'launcher'> & { readonly env: Readonly<Record<string, string>> };
  /** Absolute; the command may write there, and it is gone when the call has ended. */
  readonly temporaryFolder: string;
}

/** How reading commands are held on this machine, for operators. */
export interface ContainmentState {
  readonly scope: ContainmentSettings['scope'];
  /** `asked`: nothing can hold them, so each is asked about. */
  readonly reading: 'jail' | 'words' | 'asked';
  /** Why there is no jail, as a clause. */
  readonly missing?: string;
}

/** The jails of a server. */
export interface Jail {
  readonly scope: ContainmentSettings['scope'];
  /** Find out what holds; the machine is tried once. */
  state(): Promise<ContainmentState>;
  /** Get ready to hold a command. Never rejects. */
  prepare(place: JailPlace): Promise<CallHold>;
  /**
   * Run something held.
   *
   * @param isWritable The working directories may be changed, and there is a network.
   * @throws {GauntletError} `contained` when it cannot be held: then nothing has run.
   */
  within<Result>(place: JailPlace, isWritable: boolean, run: (held: HeldRun) => Promise<Result>): Promise<Result>;
  /** Hold a program of the server's own, where Landlock can: what it finds, the server filters itself. */
  programRequest(place: JailPlace): Promise<Pick<SpawnRequest, 'jail'>>;
}

const READING: JailWish = { masks: [], isWritable: false, isFresh: false };
const WRITING: JailWish = { masks: [], isWritable: true, isFresh: false };

/** The mechanism for one command, and what it has to mask. */
interface Chosen {
  readonly mechanism: JailMechanism;
  readonly masks: readonly Mount[];
}

/** Make the jails of a server. Nothing is started before the first command that needs one. */
export function createJail(options: JailOptions): Jail {
  const { settings, host, ownPaths, readOnlyPaths, folder, limits, hidden } = options;
  const { scope, wordsAlone } = settings;
  const homeFolder = homedir();
  const timeoutMs = limits.jailTrialMs;
  const folders = createTemporaryFolders();
  const tried = { host, folder: join(folder, 'trial'), timeoutMs, folders };
  const landlock = createLandlockJail({ host, homeFolder, folders, trial: (mechanism) => tryJail(tried, mechanism) });
  const bubblewrap = options.masking ?? createMaskedJail({ folder, homeFolder, timeoutMs, folders });
  const findMasks = createMaskFinder(limits);

  const isCommon = (path: string) => COMMON_READS.some((readable) => isInsideFolder(readable, path));
  const ownAndCommon = new Set(ownPaths.filter(isCommon));

  /** The mechanism that can hold a reading command there. @returns Why there is none. */
  async function choose(place: JailPlace): Promise<Chosen | string> {
    const denied = await findMasks(place);
    if (denied === undefined) return 'the working directories hold too many files to look for what rules hide';
    const isInPlace = (path: string) => place.folders.some((readable) => isInsideFolder(readable, path));
    const own = ownPaths.filter((path) => ownAndCommon.has(path) || isInPlace(path)).flatMap(maskOf);
    const secrets = hidden?.().filter(({ path }) => isCommon(path) || isInPlace(path)) ?? [];
    const masks = [...denied, ...own, ...secrets];
    const needsMasks = masks.length > 0 || hidden !== undefined;
    const noLandlock = await landlock.missing();
    if (!needsMasks && noLandlock === undefined) return { mechanism: landlock, masks };
    const noBubblewrap = await bubblewrap.missing();
    if (noBubblewrap === undefined) return { mechanism: bubblewrap, masks };
    const why = noLandlock ?? `"${masks[0]?.path ?? ''}" must not be read`;
    return `${why}, and ${noBubblewrap}`;
  }

  /** Landlock alone can; what must not change cannot be taken out of a folder that may. @returns Why it cannot. */
  function writable({ folders }: JailPlace): Chosen | string {
    const kept = [
      ...readOnlyPaths.filter((path) => folders.some((folder) => isInsideFolder(folder, path))),
      ...ownPaths.filter((path) => ownAndCommon.has(path) || folders.some((folder) => isInsideFolder(folder, path))),
    ];
    if (kept[0] === undefined) return { mechanism: landlock, masks: [] };
    return `"${kept[0]}" is the server's own, and lies in a folder that the command may use`;
  }

  async function missing(): Promise<string | undefined> {
    const noLandlock = await landlock.missing();
    if (noLandlock === undefined) return undefined;
    const noBubblewrap = await bubblewrap.missing();
    return noBubblewrap === undefined ? undefined : `${noLandlock}, and ${noBubblewrap}`;
  }

  async function runIn<Result>(
    mechanism: JailMechanism,
    place: JailPlace,
    wish: JailWish,
    run: (held: HeldRun) => Promise<Result>,
  ): Promise<Result> {
    const { request, userId } = await mechanism.open(place, wish);
    const temporaryFolder = folders.take(place, userId);
    const env = { PATH: JAIL_PATH, TMPDIR: temporaryFolder, ...(userId === undefined ? {} : FOREIGN_REPOSITORIES) };
    try {
      return await run({
        request: { ...request, env: wish.isWritable ? { TMPDIR: temporaryFolder } : env },
        temporaryFolder,
      });
    } finally {
      await folders.release(temporaryFolder);
    }
  }

  return {
    scope,
    async state() {
      if (scope === 'off') return { scope, reading: 'words', missing: 'it is switched off' };
      const why = await missing();
      return why === undefined
        ? { scope, reading: 'jail' }
        : { scope, reading: wordsAlone ? 'words' : 'asked', missing: why };
    },
    async prepare(place) {
      if (scope === 'off') return { kind: 'words' };
      try {
        const chosen = await choose(place);
        if (typeof chosen !== 'string') {
          await chosen.mechanism.open(place, { ...READING, masks: chosen.masks });
          return { kind: 'jail' };
        }
        return wordsAlone && (await missing()) !== undefined ? { kind: 'words' } : { kind: 'none', reason: chosen };
      } catch (error) {
        return { kind: 'none', reason: errorMessage(error) };
      }
    },
    async within(place, isWritable, run) {
      const chosen = isWritable ? writable(place) : await choose(place);
      if (typeof chosen === 'string') throw new GauntletError('contained', `Cannot hold the command: ${chosen}`);
      const wish = { ...(isWritable ? WRITING : READING), masks: chosen.masks };
      try {
        return await runIn(chosen.mechanism, place, wish, run);
      } catch (error) {
        // The host has made room for other jails since, or is another one.
        if (!isNoJail(error)) throw error;
        return runIn(chosen.mechanism, place, { ...wish, isFresh: true }, run);
      }
    },
    async programRequest(place) {
      if (scope === 'off' || (await landlock.missing()) !== undefined) return {};
      return { jail: (await landlock.open(place, READING)).request.jail };
    },
  };
}

/** Git refuses a repository of another user, and whoever reads as nobody owns none. The gate has read its settings. */
const FOREIGN_REPOSITORIES = { GIT_CONFIG_PARAMETERS: "'safe.directory=*'" };

function maskOf(path: string): readonly Mount[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined || stats.isSymbolicLink() ? [] : [{ path, access: 'none', isFolder: stats.isDirectory() }];
}
