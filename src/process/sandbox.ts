/**
 * The sandbox of shells: bounds what a command line may access, whatever it contains and however it was allowed.
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

/** Network of sandboxes. `allow`: lists of hosts reachable through the proxy; each list must cover a host. */
export type SandboxNetwork = 'off' | 'on' | { readonly allow: readonly (readonly string[])[] };

/** Options of `openSandbox`. */
export interface SandboxOptions {
  readonly mode: 'off' | 'auto' | 'required';
  readonly network: SandboxNetwork;
  /** True if sandboxed commands run without a question. */
  readonly isAutoAllowed: boolean;
  /** Absolute path of the home folder whose secrets are hidden. */
  readonly homeFolder: string;
  /** Absolute paths of the server's data directory, settings and token, which are hidden. */
  readonly ownPaths: readonly string[];
  /** Real paths that stay read-only inside working directories: the files the server runs from. */
  readonly readOnlyPaths?: readonly string[];
  /** Absolute path of the sandbox's own folder, which is recreated. */
  readonly folder: string;
  readonly limits: Pick<Limits, 'sandboxTemporaryBytes'>;
  /** Default: the system's resolver. */
  readonly lookup?: ProxyOptions['lookup'];
  /** Called once with the reason why commands run without the sandbox that mode `auto` prefers. */
  onMissing(why: string): void;
  /** Called when a session's command was denied a host. */
  onDenied: ProxyOptions['onDenied'];
}

/** Folders of a sandboxed command. */
export interface SandboxPlace {
  /** Working directories, which it may change. */
  readonly folders: readonly string[];
  /** Absolute path of the session's results, which it may read. */
  readonly sessionFolder: string;
  /** Absolute path below `sessionFolder`, into which it may write the folder it ended in. */
  readonly reportFolder: string;
}

/** A sandbox that passed its trial. */
export interface Sandbox extends Pick<SandboxOptions, 'isAutoAllowed'> {
  /** Mounts that hide keys, passwords and the server's own files that exist now. */
  hidden(): readonly Mount[];
  /** Network access; a list contains the reachable hosts. */
  readonly network: 'off' | 'on' | readonly string[];
  /** True if nothing may run outside it. */
  readonly isRequired: boolean;
  /**
   * Start a shell in it.
   *
   * @param run Starts the shell with the launcher, and resolves when its whole tree has ended.
   * @throws {GauntletError} `tool_failed` if a working directory is `/` or one of the kernel's folders.
   */
  within<Result>(place: SandboxPlace, run: (launcher: ShellLauncher) => Promise<Result>): Promise<Result>;
  /** Close the proxy. */
  close(): void;
}

/** A trial at the start that takes longer has failed. */
const TRIAL_MS = 5_000;

/** The kernel's own folders, which a sandbox has its own of. */
const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'];

/**
 * Detect whether sandboxes work, by a trial.
 *
 * @returns `undefined` in mode `off`, and in mode `auto` if the trial fails.
 * @throws {GauntletError} `invalid_setting` in mode `required` if the trial fails.
 */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox | undefined> {
  const { mode } = options;
  if (mode === 'off') return undefined;
  rmSync(options.folder, { recursive: true, force: true });
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const base = sandboxBase({ ...options, hasNetwork: options.network === 'on' });
  const why = await trySandbox({ command: base.command(base.hidden()), files: base.files }, TRIAL_MS);
  if (why === undefined) return sandboxOf(options, base);
  if (mode === 'required') throw missingSandbox(why);
  options.onMissing(why);
  return undefined;
}

function sandboxOf(options: SandboxOptions, { files, hidden, command }: SandboxBase): Sandbox {
  const { network, folder } = options;
  const workingFolders = createWorkingFolders(options.readOnlyPaths);
  const proxy =
    typeof network === 'object'
      ? openSandboxProxy({ ...options, socketFolder: join(folder, 'network'), lists: network.allow })
      : undefined;

  async function runEnclosed<Result>(
    { folders, sessionFolder, reportFolder }: SandboxPlace,
    enteredProxy: EnteredProxy | undefined,
    run: (launcher: ShellLauncher) => Promise<Result>,
  ): Promise<Result> {
    mkdirSync(reportFolder, { recursive: true, mode: 0o700 });
    const roots = outermostFolders(folders);
    const { mounts: opened, leave } = await workingFolders.enter(roots);
    try {
      const { mounts, identity } = existingMounts([
        ...opened,
        { path: sessionFolder, access: 'read', isFolder: true },
        { path: reportFolder, access: 'write', isFolder: true },
        ...hidden(),
        ...(enteredProxy?.mounts ?? []),
      ]);
      return await run({
        command: [...command(mounts, enteredProxy?.variables), ...(enteredProxy?.command ?? [])],
        files,
        identity,
      });
    } finally {
      leave();
    }
  }

  return {
    network: proxy?.hosts ?? (network === 'on' ? 'on' : 'off'),
    isAutoAllowed: options.isAutoAllowed,
    isRequired: options.mode === 'required',
    hidden,
    async within(place, run) {
      const enteredProxy = await proxy?.enter(basename(place.sessionFolder));
      try {
        return await runEnclosed(place, enteredProxy, run);
      } finally {
        enteredProxy?.leave();
      }
    },
    close: () => proxy?.close(),
  };
}

function missingSandbox(why: string): GauntletError {
  const fix = 'Install bubblewrap 0.8 or newer and allow user namespaces, or set the mode to "auto"';
  return new GauntletError('invalid_setting', `"sandbox.mode" is "required", and there is no sandbox: ${why}. ${fix}`);
}

/**
 * Resolve the folders that exist and drop those inside another: mounted by name, an inner one could be replaced by a
 * command.
 */
function outermostFolders(folders: readonly string[]): readonly string[] {
  const real = [...new Set(folders.flatMap((folder) => realFolder(folder) ?? []))];
  const unmountable = real.find(
    (folder) => folder === '/' || KERNEL_FOLDERS.some((kernel) => isInsideFolder(kernel, folder)),
  );
  if (unmountable !== undefined) {
    throw new GauntletError(
      'tool_failed',
      `Cannot open "${unmountable}" to a sandboxed command. Name a project's folder`,
    );
  }
  return real.filter((folder) => !real.some((other) => other !== folder && isInsideFolder(other, folder)));
}

function realFolder(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // A working directory that was removed is skipped; the others are used.
    return undefined;
  }
}

/** Keep the mounts whose path is still of the expected kind, and identify the files. */
function existingMounts(mounts: readonly Mount[]): { readonly mounts: readonly Mount[]; readonly identity: string } {
  const files: string[] = [];
  const kept = mounts.filter(({ path, isFolder }) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    const isSame = stats !== undefined && !stats.isSymbolicLink() && stats.isDirectory() === isFolder;
    if (isSame) files.push(`${stats.dev}:${stats.ino}`);
    return isSame;
  });
  return { mounts: kept, identity: files.join() };
}
