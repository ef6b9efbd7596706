/**
 * Holds commands that nobody was asked about: the words decided that they only read, the kernel sees to it.
 *
 * Landlock is the first choice. What a rule or the server hides inside a working directory is masked by bubblewrap.
 * A command that neither can hold is asked about.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Limits } from '../../../config/limits.ts';
import type { ContainmentSettings } from '../../../config/settings/containment.ts';
import { GauntletError, errorMessage } from '../../base/errors.ts';
import type { CallHold } from '../../tool/tool.ts';
import type { JailHost, ProcessHost, SpawnRequest } from '../process-host.ts';
import type { Mount } from '../sandbox/bwrap.ts';
import { isNoJail } from '../spawn-error.ts';
import { COMMON_READS, createLandlockJail } from './landlock-jail.ts';
import { createMaskFinder, liesIn, maskOf } from './masks.ts';
import { createMaskedJail } from './masked-jail.ts';
import type { JailMechanism, JailPlace, OpenJail } from './place.ts';
import { GIT_FILES, JAIL_PATH } from './system-paths.ts';
import { createTemporaryFolders, type TemporaryFolders } from './temporary-folder.ts';
import { tryJail } from './trial.ts';

/** Settings of the operator, and parts and paths of the server. */
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
  /** The mechanism for masks; bubblewrap by default. */
  readonly masking?: JailMechanism;
  /** Mounts that the sandbox hides, where there is one: they are masked in jails too. */
  readonly hidden?: () => readonly Mount[];
}

/** The surroundings of one command, for the time of its call. */
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
  /**
   * Run a program of the server's own, held where Landlock can: what it finds, the server filters itself.
   *
   * @throws {GauntletError} `contained` when the jail could not be opened.
   */
  withProgram<Result>(place: JailPlace, run: (held: Pick<SpawnRequest, 'jail'>) => Promise<Result>): Promise<Result>;
}

/** Make the jails of a server. Nothing is started before the first command that needs one. */
export function createJail(options: JailOptions): Jail {
  const { scope, wordsAlone } = options.settings;
  const mechanisms = makeMechanisms(options);
  const choose = createChooser(options, mechanisms);

  return {
    scope,
    async state() {
      if (scope === 'off') return { scope, reading: 'words', missing: 'it is switched off' };
      const missing = await whyNone(mechanisms);
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
        const maySkip = wordsAlone && (await whyNone(mechanisms)) !== undefined;
        return maySkip ? { kind: 'words' } : { kind: 'none', reason: chosen };
      } catch (error) {
        return { kind: 'none', reason: errorMessage(error) };
      }
    },
    async within(place, isWritable, run) {
      const chosen = await (isWritable ? choose.writing(place) : choose.reading(place));
      if (typeof chosen === 'string') throw new GauntletError('contained', `Cannot hold the command: ${chosen}`);
      const { folders } = mechanisms;
      return opened(chosen, place, isWritable, async ({ request, userId }) => {
        const temporaryFolder = folders.take(place, userId);
        const env = environmentIn(temporaryFolder, isWritable, userId);
        try {
          return await run({ request: { ...request, env }, temporaryFolder });
        } finally {
          await folders.release(temporaryFolder);
        }
      });
    },
    async withProgram(place, run) {
      const { landlock } = mechanisms;
      if (scope === 'off' || (await landlock.missing()) !== undefined) return run({});
      const chosen = { mechanism: landlock, masks: [] };
      return opened(chosen, place, false, ({ request: { jail } }) => run({ jail }));
    },
  };
}

interface Mechanisms {
  readonly landlock: JailMechanism;
  readonly bubblewrap: JailMechanism;
  readonly folders: TemporaryFolders;
}

function makeMechanisms({ host, folder, limits, masking }: JailOptions): Mechanisms {
  const folders = createTemporaryFolders();
  const common = { folder, homeFolder: homedir(), timeoutMs: limits.jailTrialMs, folders };
  const tried = { ...common, host, folder: join(folder, 'trial') };
  return {
    landlock: createLandlockJail({ ...common, host, trial: (mechanism) => tryJail(tried, mechanism) }),
    bubblewrap: masking ?? createMaskedJail(common),
    folders,
  };
}

/** Why neither mechanism is to be had, as a clause; undefined where one is. */
async function whyNone({ landlock, bubblewrap }: Mechanisms): Promise<string | undefined> {
  const noLandlock = await landlock.missing();
  if (noLandlock === undefined) return undefined;
  const noBubblewrap = await bubblewrap.missing();
  return noBubblewrap === undefined ? undefined : `${noLandlock}, and ${noBubblewrap}`;
}

/** The mechanism for one command, and what it has to mask. */
interface Chosen {
  readonly mechanism: JailMechanism;
  readonly masks: readonly Mount[];
}

/** Both answer why there is none, as a clause, where none can hold the command. */
function createChooser({ ownPaths, readOnlyPaths, hidden, limits }: JailOptions, { landlock, bubblewrap }: Mechanisms) {
  const commonReads = [...COMMON_READS, ...GIT_FILES.map((name) => join(homedir(), name))];
  const findMasks = createMaskFinder(limits, commonReads);
  const isCommon = (path: string) => liesIn(commonReads, path);
  const ownAndCommon = new Set(ownPaths.filter(isCommon));
  const ownIn = (folders: readonly string[]) =>
    ownPaths.filter((path) => ownAndCommon.has(path) || liesIn(folders, path));

  async function reading(place: JailPlace): Promise<Chosen | string> {
    const denied = await findMasks(place);
    if (denied === undefined) return 'the folders that rules are about hold too many files to look for what they hide';
    const secrets = hidden?.().filter(({ path }) => isCommon(path) || liesIn(place.folders, path)) ?? [];
    const common = commonReads.filter((path) => place.denials.isDenied(path)).flatMap(maskOf);
    const masks = [...denied, ...common, ...ownIn(place.folders).flatMap(maskOf), ...secrets];
    const needsMasks = masks.length > 0 || hidden !== undefined;
    const noLandlock = await landlock.missing();
    if (!needsMasks && noLandlock === undefined) return { mechanism: landlock, masks };
    const noBubblewrap = await bubblewrap.missing();
    if (noBubblewrap === undefined) return { mechanism: bubblewrap, masks };
    return `${noLandlock ?? `"${masks[0]?.path ?? ''}" must not be read`}, and ${noBubblewrap}`;
  }

  /** Landlock alone can, and it cannot take what must not change out of a folder that may. */
  async function writing({ folders }: JailPlace): Promise<Chosen | string> {
    const noLandlock = await landlock.missing();
    if (noLandlock !== undefined) return noLandlock;
    const [kept] = [...readOnlyPaths.filter((path) => liesIn(folders, path)), ...ownIn(folders)];
    if (kept === undefined) return { mechanism: landlock, masks: [] };
    return `"${kept}" is the server's own, and lies in a folder that the command may use`;
  }

  return { reading, writing };
}

/** Run in a jail that is open. */
async function opened<Result>(
  { mechanism, masks }: Chosen,
  place: JailPlace,
  isWritable: boolean,
  run: (jail: OpenJail) => Promise<Result>,
): Promise<Result> {
  try {
    return await run(await mechanism.open(place, { masks, isWritable, isFresh: false }));
  } catch (error) {
    if (!isNoJail(error)) throw error;
  }
  // The host has made room for other jails since, or is another one; nothing has run.
  return run(await mechanism.open(place, { masks, isWritable, isFresh: true }));
}

function environmentIn(TMPDIR: string, isWritable: boolean, userId: number | undefined): HeldRun['request']['env'] {
  if (isWritable) return { TMPDIR };
  return { PATH: JAIL_PATH, TMPDIR, ...(userId === undefined ? {} : FOREIGN_REPOSITORIES) };
}

/** Git refuses a repository of another user, and whoever reads as nobody owns none. The gate has read its settings. */
const FOREIGN_REPOSITORIES = { GIT_CONFIG_PARAMETERS: "'safe.directory=*'" };
