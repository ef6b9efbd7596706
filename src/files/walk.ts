/**
 * Lists all files below a folder, without following links and without ignored files.
 *
 * fast-glob walks the tree; the entries of each folder are filtered here, so that an ignored folder is never entered.
 */
import { closeSync, type Dirent, readdir } from 'node:fs';
import { dirname, join } from 'node:path';
import { ignoreRulesAbove, type IgnoreRules } from './ignore-rules.ts';
import { openFolder, pathThrough } from './open-folder.ts';
import { errorCode } from './real-path.ts';

/** Options of one walk. */
export interface WalkOptions {
  /** Maximum number of names in a path below the root; Infinity for all. */
  readonly depth: number;
  /** Number of names after which the walk is given up. */
  readonly maxNames: number;
  readonly maxIgnoreFileBytes: number;
  readonly signal: AbortSignal;
  /** Report whether a folder or file must not be revealed. */
  isHidden(absolutePath: string): boolean;
}

/** Outcome of a walk, besides its files. */
export interface WalkEnd {
  /** True if the walk was given up before the end. */
  isIncomplete: boolean;
}

type ReadFolder = (
  path: string,
  options: { withFileTypes: true },
  done: (error: NodeJS.ErrnoException | null, entries: Dirent[]) => void,
) => void;

/**
 * Walk the files below a folder.
 *
 * @param root Absolute real path of a folder.
 * @param end Updated if the walk ends early.
 * @returns Paths relative to `root`, with `/` between names, in no order. Ends early if `signal` aborts, which the
 * caller checks afterwards.
 */
export async function* walkFiles(root: string, options: WalkOptions, end: WalkEnd): AsyncGenerator<string> {
  // Loaded on first use to keep the start fast.
  const { default: fastGlob } = await import('fast-glob');
  const stream = fastGlob.stream('**', {
    cwd: root,
    dot: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    ...(options.depth === Infinity ? {} : { deep: options.depth }),
    fs: { readdir: (await visibleEntries(root, options, end)) as typeof readdir },
  });
  for await (const path of stream) {
    if (options.signal.aborted) return;
    yield String(path);
  }
}

async function visibleEntries(root: string, options: WalkOptions, end: WalkEnd): Promise<ReadFolder> {
  const rulesAbove = await ignoreRulesAbove(root, options.maxIgnoreFileBytes);
  const rulesByFolder = new Map<string, IgnoreRules>();
  let seenNames = 0;

  async function visible(folder: string, entries: Dirent[]): Promise<Dirent[]> {
    const above = rulesByFolder.get(dirname(folder)) ?? rulesAbove;
    const rules = await above.enter(
      folder,
      entries.map((entry) => entry.name),
    );
    rulesByFolder.set(folder, rules);
    return entries.filter((entry) => {
      if (entry.name === '.git' || (!entry.isFile() && !entry.isDirectory())) return false;
      const path = join(folder, entry.name);
      return !rules.isIgnored(path, entry.isDirectory()) && !(entry.isDirectory() && options.isHidden(path));
    });
  }

  return (path, _options, done) => {
    if (options.signal.aborted || seenNames > options.maxNames) {
      end.isIncomplete = true;
      done(null, []);
      return;
    }
    const folder = path === '' ? root : path.replace(/\/$/, '');
    readFolder(folder, (error, entries) => {
      if (error) {
        done(error, []);
        return;
      }
      seenNames += entries.length;
      visible(folder, entries).then(
        (kept) => done(null, kept),
        (cause: unknown) =>
          done(
            Object.assign(new Error('Cannot read ignore files', { cause }), { code: errorCode(cause) ?? 'EIO' }),
            [],
          ),
      );
    });
  };
}

/** Read the entries of the folder at a real path; a replacement, such as a link, is not entered. */
function readFolder(real: string, done: Parameters<ReadFolder>[2]): void {
  let descriptor: number;
  try {
    descriptor = openFolder(real, real);
  } catch (error) {
    done(error as NodeJS.ErrnoException, []);
    return;
  }
  readdir(pathThrough(descriptor, real), { withFileTypes: true }, (error, entries) => {
    closeSync(descriptor);
    done(error, entries);
  });
}
