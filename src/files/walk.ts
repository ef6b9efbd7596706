/**
 * All files below a folder, links never followed, what its ignore files name left out.
 *
 * fast-glob walks; what it may see of each folder is decided here, so that an ignored folder is never entered.
 */
import { closeSync, type Dirent, readdir } from 'node:fs';
import { dirname, join } from 'node:path';
import { ignoreRulesAbove, type IgnoreRules } from './ignore-rules.ts';
import { openFolder, through } from './open-folder.ts';
import { errorCode } from './real-path.ts';

/** One walk. */
export interface WalkOptions {
  /** Names below the root a file may have; Infinity for all. */
  readonly depth: number;
  /** Names looked at before the walk is given up. */
  readonly maxNames: number;
  readonly maxIgnoreFileBytes: number;
  readonly signal: AbortSignal;
  /** Whether a folder or file may not be known of. */
  isHidden(absolutePath: string): boolean;
}

/** What a walk saw beside its files. */
export interface WalkEnd {
  /** True when it was given up with names left. */
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
 * @param end Written to when the walk ends early.
 * @returns Paths relative to `root`, `/` between names, in no order. Ends early when `signal` aborts: look at it afterwards.
 */
export async function* walkFiles(root: string, options: WalkOptions, end: WalkEnd): AsyncGenerator<string> {
  // Loaded when somebody first walks: no start waits for it.
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

/** The entries of the folder at a real path: what took its place meanwhile, a link perhaps, is not entered. */
function readFolder(real: string, done: Parameters<ReadFolder>[2]): void {
  let descriptor: number;
  try {
    descriptor = openFolder(real, real);
  } catch (error) {
    done(error as NodeJS.ErrnoException, []);
    return;
  }
  readdir(through(descriptor, real), { withFileTypes: true }, (error, entries) => {
    closeSync(descriptor);
    done(error, entries);
  });
}
