/** Builds the command line of ripgrep: every value follows its own option, so that none is parsed as one. */
import type { GrepArguments } from './schema.ts';
import { GREP_BOUNDS } from './search.ts';

/** Folder in which a process finds its own descriptors. */
const OWN_DESCRIPTORS = process.platform === 'linux' ? '/proc/self/fd/' : '/dev/fd/';
const FIRST_DESCRIPTOR = 5;

/** Build arguments for a recursive search; `target` is absent for the working directory itself. */
export function ripgrepArguments(input: GrepArguments, target: string | undefined): readonly string[] {
  return [
    ...commonArguments(input),
    '--hidden',
    // Ignore files also apply outside repositories, as in Glob.
    '--no-require-git',
    // An invalid ignore pattern may be the text of another file that a link points to, and must not be printed.
    '--no-ignore-messages',
    ...(input.type === undefined ? [] : [`--type=${input.type}`]),
    ...globsOf(input.glob ?? '').map((glob) => `--glob=${glob}`),
    // After the caller's globs, since the last matching one decides.
    '--glob=!.git',
    // A sorted search uses one thread, but its order is stable, which pages require; a complete result does not.
    ...(input.head_limit === 0 || outputMode(input) === 'files_with_matches' ? [] : ['--sort=path']),
    ...patternArguments(input),
    ...(target === undefined ? [] : [target]),
  ];
}

/** Build arguments to search the first `count` descriptors in order. */
export function descriptorArguments(input: GrepArguments, count: number): readonly string[] {
  const descriptors = Array.from({ length: count }, (_, index) => `${OWN_DESCRIPTORS}${index + FIRST_DESCRIPTOR}`);
  return [...commonArguments(input), '--threads=1', ...patternArguments(input), ...descriptors];
}

/** Return the index of the descriptor that `rg` printed, from 0 on. */
export function descriptorIndex(printed: string): number {
  return Number(printed.slice(OWN_DESCRIPTORS.length)) - FIRST_DESCRIPTOR;
}

/** Return the output mode; file paths by default. */
export function outputMode(input: GrepArguments): NonNullable<GrepArguments['output_mode']> {
  return input.output_mode ?? 'files_with_matches';
}

/** Report whether lines are numbered. */
export function hasLineNumbers(input: GrepArguments): boolean {
  return input['-n'] ?? true;
}

/** Split globs at blanks or commas, except inside braces: models often pass several in one string. */
function globsOf(glob: string): readonly string[] {
  const globs = glob.split(/[\s,]+(?![^{]*\})/).filter((each) => each !== '');
  // If a part has no wildcard, the whole is rather one name that contains a blank.
  return globs.every((each) => /[*?[{]/.test(each)) ? globs : [glob];
}

function commonArguments(input: GrepArguments): readonly string[] {
  return [
    '--no-config',
    '--color=never',
    '--no-heading',
    '--with-filename',
    // A NUL after each path, since names may contain colons, blanks and line ends.
    '--null',
    // A memory-mapped file that is truncated would crash the program.
    '--no-mmap',
    ...outputArguments(input),
    ...(input['-i'] ? ['--ignore-case'] : []),
    ...(input.multiline ? ['--multiline', '--multiline-dotall'] : []),
  ];
}

function patternArguments({ pattern }: GrepArguments): readonly string[] {
  return ['-e', pattern, '--'];
}

function outputArguments(input: GrepArguments): readonly string[] {
  switch (outputMode(input)) {
    case 'files_with_matches':
      return ['--files-with-matches'];
    case 'count':
      return ['--count-matches'];
    case 'content':
      return [
        hasLineNumbers(input) ? '--line-number' : '--no-line-number',
        `--max-columns=${GREP_BOUNDS.lineBytes}`,
        '--max-columns-preview',
        ...(input['-o'] ? ['--only-matching'] : []),
        ...contextArguments(input),
      ];
  }
}

function contextArguments(input: GrepArguments): readonly string[] {
  const around = input['-C'] ?? input.context;
  const after = input['-A'] ?? around;
  const before = input['-B'] ?? around;
  return [
    ...(after === undefined ? [] : [`--after-context=${after}`]),
    ...(before === undefined ? [] : [`--before-context=${before}`]),
  ];
}
