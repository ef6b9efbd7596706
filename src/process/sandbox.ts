/**
 * The sandbox of shells: what a command line may touch, whatever it says and whoever allowed it.
 */
import { lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isInsideFolder } from '../../config/containment.ts';
import type { Limits } from '../../config/limits.ts';
import { GauntletError } from '../base/errors.ts';
import type { ShellLauncher } from './process-host.ts';
import type { ProxyOptions } from './proxy/proxy.ts';
import type { Mount } from './sandbox/bwrap.ts';
import { createWorkingFolders } from './sandbox/working-folders.ts';
import { sandboxBase, type SandboxBase } from './sandbox/sandbox-base.ts';
import { trySandbox } from './sandbox/trial.ts';
import { type EnteredProxy, openSandboxProxy } from './sandbox/sandbox-proxy.ts';

/** `allow`: hosts that every one of the lists must cover, through the proxy. */
export type SandboxNetwork = 'off' | 'on' | { readonly allow: readonly (readonly string[])[] };

/** What an operator decides. */
export interface SandboxOptions {
  readonly mode: 'off' | 'auto' | 'required';
  readonly network: SandboxNetwork;
  /** What runs in it runs without a question. */
  readonly isAutoAllowed: boolean;
  /** Whose keys are hidden: absolute. */
  readonly homeFolder: string;
  /** The server's data directory, settings and token: absolute, hidden. */
  readonly ownPaths: readonly string[];
  /** Real paths that stay read-only inside working directories: the files the server runs from. */
  readonly readOnlyPaths?: readonly string[];
  /** Absolute; the sandbox's own, made anew. */
  readonly folder: string;
  readonly limits: Pick<Limits, 'sandboxTrialMs' | 'sandboxTemporaryBytes'> &
    Parameters<typeof createWorkingFolders>[0] &
    ProxyOptions['limits'];
  /** Default: the machine's own. */
  readonly lookup?: ProxyOptions['lookup'];
  /** Told once, why commands run without the sandbox that mode `auto` wants. */
  onMissing(why: string): void;
  /** A command of a session wanted to reach what no list allows. */
  onDenied: ProxyOptions['onDenied'];
}

/** Where a sandboxed command may be active. */
export interface SandboxPlace {
  /** The working directories, which it may change. */
  readonly folders: readonly string[];
  /** Absolute; it may read the session's results there. */
  readonly sessionFolder: string;
  /** Absolute, below `sessionFolder`; it may write where it ended. */
  readonly reportFolder: string;
}

/** A sandbox that was tried and holds. */
export interface Sandbox extends Pick<SandboxOptions, 'isAutoAllowed'> {
  /** Keys, passwords and the server's own files that are hidden now. */
  hidden(): readonly Mount[];
  /** A list names the hosts that can be reached. */
  readonly network: 'off' | 'on' | readonly string[];
  /** Nothing may run outside it. */
  readonly isRequired: boolean;
  /**
   * Start a shell in it.
   *
   * @param run Starts the shell with the launcher, and resolves when its whole tree has ended.
   * @throws {GauntletError} `tool_failed` when a working directory is one of the kernel's, or all of them.
   */
  within<Result>(place: SandboxPlace, run: (launcher: ShellLauncher) => Promise<Result>): Promise<Result>;
  /** End the proxy. */
  close(): void;
}

/** The kernel's own folders, which a sandbox has its own of. */
const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'];

/**
 * Find out whether there is a sandbox, by trying it.
 *
 * @returns undefined in mode `off`, and where mode `auto` finds none.
 * @throws {GauntletError} `invalid_setting` where mode `required` finds none.
 */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox | undefined> {
  const { mode, limits } = options;
  if (mode === 'off') return undefined;
  rmSync(options.folder, { recursive: true, force: true });
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const shape = sandboxBase({ ...options, hasNetwork: options.network === 'on' });
  const why = await trySandbox({ command: shape.command(shape.hidden()), files: shape.files }, limits.sandboxTrialMs);
  if (why === undefined) return sandboxOf(options, shape);
  if (mode === 'required') throw missing(why);
  options.onMissing(why);
  return undefined;
}

function sandboxOf(options: SandboxOptions, { files, hidden, command }: SandboxBase): Sandbox {
  const { network, folder } = options;
  const ground = createWorkingFolders(options.limits, options.readOnlyPaths);
  const wayOut =
    typeof network === 'object'
      ? openSandboxProxy({ ...options, socketFolder: join(folder, 'network'), lists: network.allow })
      : undefined;

  async function enclose<Result>(
    { folders, sessionFolder, reportFolder }: SandboxPlace,
    way: EnteredProxy | undefined,
    run: (launcher: ShellLauncher) => Promise<Result>,
  ): Promise<Result> {
    mkdirSync(reportFolder, { recursive: true, mode: 0o700 });
    const roots = outermost(folders);
    const { mounts: opened, leave } = await ground.enter(roots);
    try {
      const { mounts, identity } = present([
        ...opened,
        { path: sessionFolder, access: 'read', isFolder: true },
        { path: reportFolder, access: 'write', isFolder: true },
        ...hidden(),
        ...(way?.mounts ?? []),
      ]);
      return await run({ command: [...command(mounts, way?.variables), ...(way?.command ?? [])], files, identity });
    } finally {
      leave();
    }
  }

  return {
    network: wayOut?.hosts ?? (network === 'on' ? 'on' : 'off'),
    isAutoAllowed: options.isAutoAllowed,
    isRequired: options.mode === 'required',
    hidden,
    async within(place, run) {
      const way = await wayOut?.enter(basename(place.sessionFolder));
      try {
        return await enclose(place, way, run);
      } finally {
        way?.leave();
      }
    },
    close: () => wayOut?.close(),
  };
}

function missing(why: string): GauntletError {
  const fix = 'Install bubblewrap 0.8 or newer and allow user namespaces, or set the mode to "auto"';
  return new GauntletError('invalid_setting', `"sandbox.mode" is "required", and there is no sandbox: ${why}. ${fix}`);
}

/** Real paths of those that exist; one that lies in another is part of it, and must not be mounted by a name a command can change. */
function outermost(folders: readonly string[]): readonly string[] {
  const real = [...new Set(folders.flatMap((folder) => realFolder(folder) ?? []))];
  const unfit = real.find(
    (folder) => folder === '/' || KERNEL_FOLDERS.some((kernel) => isInsideFolder(kernel, folder)),
  );
  if (unfit !== undefined) {
    throw new GauntletError('tool_failed', `Cannot open "${unfit}" to a sandboxed command. Name a project's folder`);
  }
  return real.filter((folder) => !real.some((other) => other !== folder && isInsideFolder(other, folder)));
}

function realFolder(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // A working directory that is gone cannot be worked in; the others can.
    return undefined;
  }
}

/** Those that are still what they were taken for, and which files they are. */
function present(mounts: readonly Mount[]): { readonly mounts: readonly Mount[]; readonly identity: string } {
  const files: string[] = [];
  const kept = mounts.filter(({ path, isFolder }) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    const isSame = stats !== undefined && !stats.isSymbolicLink() && stats.isDirectory() === isFolder;
    if (isSame) files.push(`${stats.dev}:${stats.ino}`);
    return isSame;
  });
  return { mounts: kept, identity: files.join() };
}
