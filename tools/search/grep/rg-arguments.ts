/**
 * The command line of ripgrep for one input: every value stands behind its own option, none can become one.
 */
import type { GrepArguments } from './schema.ts';
import { GREP_BOUNDS } from './search.ts';

/** Where a program finds its own descriptors by name. */
const OWN_DESCRIPTORS = process.platform === 'linux' ? '/proc/self/fd/' : '/dev/fd/';
const FIRST_DESCRIPTOR = 5;

/** Arguments for `rg` that walks; `target` is left out for the working directory itself. */
export function ripgrepArguments(input: GrepArguments, target: string | undefined): readonly string[] {
  return [
    ...commonArguments(input),
    '--hidden',
    // Ignore files count outside repositories too, as they do for Glob.
    '--no-require-git',
    // What cannot be read as a pattern may be the text of another file, which a link in the place of one leads to.
    '--no-ignore-messages',
    ...(input.type === undefined ? [] : [`--type=${input.type}`]),
    ...globsOf(input.glob ?? '').map((glob) => `--glob=${glob}`),
    // After the caller's glob: of several, the last that matches decides.
    '--glob=!.git',
    // A sorted search runs on one thread, but is the same each time, which pages need; all at once need not be.
    ...(input.head_limit === 0 || outputMode(input) === 'files_with_matches' ? [] : ['--sort=path']),
    ...patternArguments(input),
    ...(target === undefined ? [] : [target]),
  ];
}

/** Arguments for `rg` that searches its first `count` descriptors, in their order. */
export function descriptorArguments(input: GrepArguments, count: number): readonly string[] {
  const descriptors = Array.from({ length: count }, (_, index) => `${OWN_DESCRIPTORS}${index + FIRST_DESCRIPTOR}`);
  return [...commonArguments(input), '--threads=1', ...patternArguments(input), ...descriptors];
}

/** Which of its descriptors `rg` means, from 0 on. */
export function descriptorIndex(printed: string): number {
  return Number(printed.slice(OWN_DESCRIPTORS.length)) - FIRST_DESCRIPTOR;
}

/** How results are shown; file paths by default. */
export function outputMode(input: GrepArguments): NonNullable<GrepArguments['output_mode']> {
  return input.output_mode ?? 'files_with_matches';
}

/** Whether lines carry their number. */
export function hasLineNumbers(input: GrepArguments): boolean {
  return input['-n'] ?? true;
}

/** Several globs are often written in one, with blanks or commas between; those of braces belong to their glob. */
function globsOf(glob: string): readonly string[] {
  const globs = glob.split(/[\s,]+(?![^{]*\})/).filter((each) => each !== '');
  // A part without a wildcard is rather a piece of one name that holds a blank.
  return globs.every((each) => /[*?[{]/.test(each)) ? globs : [glob];
}

function commonArguments(input: GrepArguments): readonly string[] {
  return [
    '--no-config',
    '--color=never',
    '--no-heading',
    '--with-filename',
    // A NUL after each path: names may hold colons, blanks and line ends.
    '--null',
    // A mapped file that somebody makes shorter ends the program.
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
