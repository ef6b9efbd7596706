/**
 * Runs commands without a question that were classified as read-only, under enforcement by the kernel.
 *
 * Landlock is the first choice. Paths inside a working directory that a rule or the server hides are masked by
 * bubblewrap. A command that neither can contain becomes a question.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Limits } from '../../../config/limits.ts';
import type { ContainmentSettings } from '../../../config/settings/containment.ts';
import { GauntletError, errorMessage } from '../../base/errors.ts';
import type { CallHold } from '../../tool/tool.ts';
import type { ContainmentState } from '../../wire/server-replies.ts';
import type { JailHost, ProcessHost, SpawnRequest } from '../process-host.ts';
import type { Mount } from '../sandbox/bwrap.ts';
import { isNoJail } from '../spawn-error.ts';
import { COMMON_READS, createLandlockJail } from './landlock-jail.ts';
import { limitOptions } from './limit-options.ts';
import { createMaskFinder, isInAnyFolder, maskOf } from './masks.ts';
import { createMaskedJail } from './masked-jail.ts';
import type { JailMechanism, JailPlace, OpenJail } from './place.ts';
import { GIT_FILES, JAIL_PATH } from './system-paths.ts';
import { createTemporaryFolders, type TemporaryFolders } from './temporary-folder.ts';
import { tryJail } from './trial.ts';

/** A trial of a jail that takes longer has failed. */
const TRIAL_MS = 5_000;

/** Settings of the operator, and parts and paths of the server. */
export interface JailOptions {
  readonly settings: ContainmentSettings;
  readonly host: ProcessHost & JailHost;
  /** Absolute paths of the server's data directory, settings and token, which no command in a jail may read. */
  readonly ownPaths: readonly string[];
  /** Absolute paths of the installation, which no command may change. */
  readonly readOnlyPaths: readonly string[];
  /** Absolute path of the jail's own folder. */
  readonly folder: string;
  readonly limits: Pick<Limits, 'jailScanNames' | 'jailMemoryBytes'>;
  /** Mechanism for masks; bubblewrap by default. */
  readonly masking?: JailMechanism;
  /** Returns the mounts that the sandbox hides, if there is one; they are masked in jails too. */
  readonly hidden?: () => readonly Mount[];
}

/** Environment of one jailed command, for the duration of its call. */
export interface JailedRun {
  /** Members of a request that start the child in the jail. */
  readonly request: Pick<SpawnRequest, 'jail' | 'launcher'> & { readonly env: Readonly<Record<string, string>> };
  /** Absolute path; the command may write there, and it is removed when the call has ended. */
  readonly temporaryFolder: string;
  /** Members of a request that start a program in the jail in place of a shell; its standard input may be a pipe. */
  program(file: string, args: readonly string[]): Pick<SpawnRequest, 'file' | 'args' | 'files' | 'jail'>;
}

/** The jails of a server. */
export interface Jail {
  readonly scope: ContainmentSettings['scope'];
  /** Detect the mechanism in effect; the result is cached. */
  state(): Promise<ContainmentState>;
  /** Prepare the jail of a command. Never rejects. */
  prepare(place: JailPlace): Promise<CallHold>;
  /**
   * Run something in a jail.
   *
   * @param isWritable True if the working directories may be changed and the network used.
   * @throws {GauntletError} `contained` if it cannot be contained: then nothing has run.
   */
  within<Result>(place: JailPlace, isWritable: boolean, run: (held: JailedRun) => Promise<Result>): Promise<Result>;
  /**
   * Run a program of the server's own, jailed if Landlock is available. The server filters its results itself.
   *
   * @throws {GauntletError} `contained` if the jail could not be opened.
   */
  withProgram<Result>(place: JailPlace, run: (held: Pick<SpawnRequest, 'jail'>) => Promise<Result>): Promise<Result>;
}

/** Create the jails of a server. Nothing is started before the first command that needs one. */
export function createJail(options: JailOptions): Jail {
  const { settings, limits } = options;
  const { scope, wordsAlone } = settings;
  const mechanisms = makeMechanisms(options);
  const choose = createChooser(options, mechanisms);

  return {
    scope,
    async state() {
      if (scope === 'off') return { scope, reading: 'words', missing: 'it is switched off' };
      const missing = await missingReason(mechanisms);
      if (missing !== undefined) return { scope, reading: wordsAlone ? 'words' : 'asked', missing };
      const noLandlock = scope === 'all' ? await mechanisms.landlock.missing() : undefined;
      return { scope, reading: 'jail', ...(noLandlock !== undefined && { missing: `for writing: ${noLandlock}` }) };
    },
    async prepare(place) {
      if (scope === 'off') return { kind: 'words' };
      try {
        const chosen = await choose.reading(place);
        if (typeof chosen !== 'string') {
          await chosen.mechanism.open(place, { masks: chosen.masks, isWritable: false, isFresh: false });
          return { kind: 'jail' };
        }
        const maySkip = wordsAlone && (await missingReason(mechanisms)) !== undefined;
        return maySkip ? { kind: 'words' } : { kind: 'none', reason: chosen };
      } catch (error) {
        return { kind: 'none', reason: errorMessage(error) };
      }
    },
    async within(place, isWritable, run) {
      const chosen = await (isWritable ? choose.writing(place) : choose.reading(place));
      if (typeof chosen === 'string') throw new GauntletError('contained', `Cannot contain the command: ${chosen}`);
      const { folders } = mechanisms;
      return runInJail(chosen, place, isWritable, async ({ request, programLauncher, userId }) => {
        const temporaryFolder = folders.take(place, userId);
        const env = environmentIn(temporaryFolder, isWritable, userId);
        try {
          const { command = [], files } = programLauncher ?? {};
          const program: JailedRun['program'] = (file, args) => {
            const limiter = isWritable ? [] : limiterCommand(limits);
            const [first = file, ...rest] = [...command, ...limiter, file, ...args];
            return { file: first, args: rest, files, jail: request.jail };
          };
          return await run({ request: { ...request, env }, temporaryFolder, program });
        } finally {
          await folders.release(temporaryFolder);
        }
      });
    },
    async withProgram(place, run) {
      const { landlock } = mechanisms;
      if (scope === 'off' || (await landlock.missing()) !== undefined) return run({});
      const chosen = { mechanism: landlock, masks: [] };
      return runInJail(chosen, place, false, ({ request: { jail } }) => run({ jail }));
    },
  };
}

interface Mechanisms {
  readonly landlock: JailMechanism;
  readonly bubblewrap: JailMechanism;
  readonly folders: TemporaryFolders;
}

function makeMechanisms({ host, folder, masking }: JailOptions): Mechanisms {
  const folders = createTemporaryFolders();
  const common = { folder, homeFolder: homedir(), timeoutMs: TRIAL_MS, folders };
  const tried = { ...common, host, folder: join(folder, 'trial') };
  return {
    landlock: createLandlockJail({ ...common, host, trial: (mechanism) => tryJail(tried, mechanism) }),
    bubblewrap: masking ?? createMaskedJail(common),
    folders,
  };
}

/** Reason why neither mechanism is available, as a clause; `undefined` if one is. */
async function missingReason({ landlock, bubblewrap }: Mechanisms): Promise<string | undefined> {
  const noLandlock = await landlock.missing();
  if (noLandlock === undefined) return undefined;
  const noBubblewrap = await bubblewrap.missing();
  return noBubblewrap === undefined ? undefined : `${noLandlock}, and ${noBubblewrap}`;
}

/** Mechanism for one command, and the paths it must mask. */
interface ChosenMechanism {
  readonly mechanism: JailMechanism;
  readonly masks: readonly Mount[];
}

/**
 * Create the functions that choose a mechanism; both return the reason, as a clause, if none can contain the command.
 */
function createChooser({ ownPaths, readOnlyPaths, hidden, limits }: JailOptions, { landlock, bubblewrap }: Mechanisms) {
  const commonReads = [...COMMON_READS, ...GIT_FILES.map((name) => join(homedir(), name))];
  const findMasks = createMaskFinder(limits, commonReads);
  const isCommon = (path: string) => isInAnyFolder(commonReads, path);
  const ownAndCommon = new Set(ownPaths.filter(isCommon));
  const ownIn = (folders: readonly string[]) =>
    ownPaths.filter((path) => ownAndCommon.has(path) || isInAnyFolder(folders, path));

  async function reading(place: JailPlace): Promise<ChosenMechanism | string> {
    const denied = await findMasks(place);
    if (denied === undefined) return 'the folders that rules apply to contain too many files to search for hidden ones';
    const secrets = hidden?.().filter(({ path }) => isCommon(path) || isInAnyFolder(place.folders, path)) ?? [];
    const common = commonReads.filter((path) => place.denials.isDenied(path)).flatMap(maskOf);
    const masks = [...denied, ...common, ...ownIn(place.folders).flatMap(maskOf), ...secrets];
    const needsMasks = masks.length > 0 || hidden !== undefined;
    const noLandlock = await landlock.missing();
    if (!needsMasks && noLandlock === undefined) return { mechanism: landlock, masks };
    const noBubblewrap = await bubblewrap.missing();
    if (noBubblewrap === undefined) return { mechanism: bubblewrap, masks };
    return `${noLandlock ?? `"${masks[0]?.path ?? ''}" must not be read`}, and ${noBubblewrap}`;
  }

  /** Only Landlock can, and it cannot exclude a path from a folder that may be changed. */
  async function writing({ folders }: JailPlace): Promise<ChosenMechanism | string> {
    const noLandlock = await landlock.missing();
    if (noLandlock !== undefined) return noLandlock;
    const [kept] = [...readOnlyPaths.filter((path) => isInAnyFolder(folders, path)), ...ownIn(folders)];
    if (kept === undefined) return { mechanism: landlock, masks: [] };
    return `"${kept}" is the server's own, and lies in a folder that the command may use`;
  }

  return { reading, writing };
}

/** Open the jail and run in it, once more if the host has closed the jail meanwhile. */
async function runInJail<Result>(
  { mechanism, masks }: ChosenMechanism,
  place: JailPlace,
  isWritable: boolean,
  run: (jail: OpenJail) => Promise<Result>,
): Promise<Result> {
  try {
    return await run(await mechanism.open(place, { masks, isWritable, isFresh: false }));
  } catch (error) {
    if (!isNoJail(error)) throw error;
  }
  // The host evicted the jail, or was restarted; nothing has run.
  return run(await mechanism.open(place, { masks, isWritable, isFresh: true }));
}

function environmentIn(TMPDIR: string, isWritable: boolean, userId: number | undefined): JailedRun['request']['env'] {
  if (isWritable) return { TMPDIR };
  return { PATH: JAIL_PATH, TMPDIR, ...(userId === undefined ? {} : FOREIGN_REPOSITORIES) };
}

/** Build the command of a shell that sets the limits of a jail and becomes the program whose words follow. */
function limiterCommand(limits: JailOptions['limits']): readonly string[] {
  const options = limitOptions(limits);
  return ['bash', '--noprofile', '--norc', '-c', `ulimit ${options} 2>/dev/null; exec "$@"`, 'bash'];
}

/** Git rejects a repository of another user, and `nobody` owns none. The gate has checked the repository's settings. */
const FOREIGN_REPOSITORIES = { GIT_CONFIG_PARAMETERS: "'safe.directory=*'" };
