/**
 * What all sandboxes of a server have in common: what they hide, how they are started, what they are given.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../../../config/limits.ts';
import type { ShellLauncher } from '../process-host.ts';
import { bwrapCommand, type BwrapOptions, type Mount } from './bwrap.ts';
import { hiddenPaths } from './hidden-paths.ts';
import { sandboxFilter } from '../system-call-filter.ts';

/** What an operator decides of it. */
export interface SandboxBaseOptions extends Pick<BwrapOptions, 'hasNetwork'> {
  /** Absolute; the sandbox's own, and there. */
  readonly folder: string;
  /** Whose keys are hidden: absolute. */
  readonly homeFolder: string;
  /** Further paths to hide: absolute. */
  readonly ownPaths: readonly string[];
  readonly limits: Pick<Limits, 'sandboxTemporaryBytes'>;
}

/** The common part. */
export interface SandboxBase {
  readonly files: NonNullable<ShellLauncher['files']>;
  /** What is hidden now. */
  hidden(): readonly Mount[];
  /** Program and arguments up to the program that runs inside. */
  command(mounts: readonly Mount[], variables?: BwrapOptions['variables']): readonly string[];
}

/** What a launcher's first file is handed on as. */
const FIRST_FILE_DESCRIPTOR = 4;

/** Make it. */
export function sandboxBase({ folder, homeFolder, ownPaths, hasNetwork, limits }: SandboxBaseOptions): SandboxBase {
  const files = filterFile(folder);
  const common = {
    hasNetwork,
    filterDescriptor: files.length === 0 ? undefined : FIRST_FILE_DESCRIPTOR,
    temporaryBytes: limits.sandboxTemporaryBytes,
  };
  return {
    files,
    hidden: hiddenPaths(homeFolder, ownPaths),
    command: (mounts, variables = {}) => bwrapCommand({ ...common, mounts, variables }),
  };
}

/** @returns Nothing where there is no filter for this machine. */
function filterFile(folder: string): readonly string[] {
  const filter = sandboxFilter(process.arch);
  if (filter === undefined) return [];
  const path = join(folder, 'system-calls');
  writeFileSync(path, filter, { mode: 0o600 });
  return [path];
}
