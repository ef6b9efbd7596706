/**
 * Recognises listings: commands that print only paths, so that their readers read below known roots.
 *
 * `find src | xargs grep x` reads below `src`. With an option that lets a program print anything else, or follow links,
 * the output counts as unknown.
 */
import type { Command, HereString, ParsedScript, SyntaxNode } from 'unbash';
import { parseArguments, flagTable, type ParsedArguments } from './flags.ts';
import { judgeProgram } from './program-spec.ts';
import type { ListingOptions } from './program-record.ts';
import { FIND } from './programs/find.ts';
import { findRecord, subcommandOf } from './programs/index.ts';
import { decodeWord, type ShellWord } from './word.ts';
import type { Variables } from './variable-values.ts';

/** Paths that contain everything printed; undefined if the output is unknown. */
type Roots = readonly string[] | undefined;

/** Longest pipeline that is followed; each command is examined again for every later one. */
const MAX_STAGES = 8;

/** Upper bound of the roots that are followed. */
const MAX_ROOTS = 64;

/** Return paths that contain everything a pipeline prints. @param producers Its commands, in order. */
export function listedRoots(producers: readonly SyntaxNode[], variables: Variables): Roots {
  if (producers.length > MAX_STAGES) return undefined;
  let roots: Roots;
  for (const [at, producer] of producers.entries()) {
    const words = producer.type === 'Command' ? plainWords(producer, variables) : undefined;
    if (!words) return undefined;
    roots = (at > 0 && roots ? filtered(words, roots) : undefined) ?? listed(words);
    if (!roots || roots.length > MAX_ROOTS) return undefined;
  }
  return roots;
}

/** List the commands of the single pipeline whose output a substitution returns. */
export function producersOf(script: ParsedScript | undefined): readonly SyntaxNode[] {
  const [statement, ...more] = script?.commands ?? [];
  if (!statement || more.length > 0 || statement.background) return [];
  return pipeline(statement.command) ?? [];
}

/** List the commands of a pipeline that passes on standard output only; a single command is a pipeline, too. */
function pipeline(node: SyntaxNode): readonly SyntaxNode[] | undefined {
  if (node.type !== 'Pipeline') return [node];
  return node.operators.every((operator) => operator === '|') ? node.commands : undefined;
}

/**
 * Recognise a loop that reads the lines of a listing: `find . | while read -r f`,
 * `while read -r f; … done < <(find .)`.
 */
export function listingLoop(
  node: SyntaxNode,
): { readonly producers: readonly SyntaxNode[]; readonly readers: readonly Command[] } | undefined {
  if (node.type === 'Pipeline') {
    const last = node.commands.at(-1);
    const producers = pipeline(node)?.slice(0, -1);
    return last?.type === 'While' && producers ? { producers, readers: readersOf(last.clause) } : undefined;
  }
  if (node.type !== 'Redirected' || node.command.type !== 'While') return undefined;
  const [redirect, ...more] = node.redirects;
  const here = redirect?.type === 'HereString' && more.length === 0 ? quotedOutput(redirect) : undefined;
  if (here) return { producers: producersOf(here), readers: readersOf(node.command.clause) };
  const [part, ...others] = redirect?.type === 'Redirect' ? (redirect.target?.parts ?? []) : [];
  const isInput = redirect?.operator === '<' && !redirect.descriptor && more.length === 0 && others.length === 0;
  if (!isInput || part?.type !== 'ProcessSubstitution' || part.operator !== '<') return undefined;
  return { producers: producersOf(part.script), readers: readersOf(node.command.clause) };
}

/** Return the script of `<<< "$(find .)"`. */
function quotedOutput({ descriptor, target }: HereString): ParsedScript | undefined {
  const [part, ...others] = target?.parts ?? [];
  if (descriptor || others.length > 0 || part?.type !== 'DoubleQuoted') return undefined;
  const [inner, ...more] = part.parts;
  return inner?.type === 'CommandExpansion' && more.length === 0 ? inner.script : undefined;
}

/** Return the variable that a `read` assigns one whole line; undefined if it may split lines. */
export function readTarget(node: SyntaxNode): string | undefined {
  if (node.type !== 'Command' || node.name?.value !== 'read' || node.name.parts) return undefined;
  const isWhole = node.prefix.every(
    (item) => item.type === 'Assignment' && item.name === 'IFS' && item.text === 'IFS=',
  );
  const words = node.args.flatMap((word) => (word.type === 'Word' ? [word.text] : ['-a']));
  const name = words.at(-1) ?? '';
  const options = words.slice(0, -1).join(' ');
  // With -d at anything but a line end or NUL, or with two names, a line is split into other paths.
  const isKnown = /^(?:-r)?(?: ?-d (?:''|""|\$'\\0'|\$'\\n'))?$/.test(options) && node.suffix.length === words.length;
  return isWhole && isKnown && /^[a-z_]\w*$/.test(name) ? name : undefined;
}

/** List the `read` commands in a loop's condition that use the loop's own input. */
function readersOf(clause: SyntaxNode): readonly Command[] {
  switch (clause.type) {
    case 'CompoundList':
    case 'AndOr':
      return clause.commands.flatMap(readersOf);
    case 'Statement':
      return clause.background ? [] : readersOf(clause.command);
    case 'Command':
      return readTarget(clause) === undefined ? [] : [clause];
    default:
      return [];
  }
}

/** Decode the words of a command without redirections and assignments, except for `2>/dev/null`. */
function plainWords({ name, prefix, suffix }: Command, variables: Variables): readonly ShellWord[] | undefined {
  if (!name || prefix.length > 0) return undefined;
  const words: ShellWord[] = [...decodeWord(name, variables)];
  for (const item of suffix) {
    if (item.type === 'Word') words.push(...decodeWord(item, variables));
    else if (!silencesErrors(item)) return undefined;
  }
  return words[0]?.literal === undefined ? undefined : words;
}

/** Report whether a redirection is `2>/dev/null`. */
export function silencesErrors(item: SyntaxNode): boolean {
  if (item.type !== 'Redirect' || item.operator !== '>' || item.target?.text !== '/dev/null') return false;
  return item.descriptor?.type === 'FileDescriptor' && item.descriptor.value === 2;
}

function filtered(words: readonly ShellWord[], input: readonly string[]): Roots {
  const [program, ...rest] = words;
  const filter = findRecord(program?.literal ?? '')?.filtersLines;
  if (!filter) return undefined;
  const { flags, operands, problem } = parseArguments(rest, { flags: flagTable(filter.flags), hasNumbers: true });
  const wanted = flags.some(({ name }) => name === '-e') ? 0 : filter.operands;
  const isPlain = operands.length === wanted && operands.every((word) => !word.isSplit);
  return problem === undefined && isPlain ? input : undefined;
}

function listed(words: readonly ShellWord[]): Roots {
  const [program, ...rest] = words;
  const name = program?.literal ?? '';
  if (name === 'find') return foundBelow(rest);
  if (name === 'git') return listedByGit(rest);
  if (name === 'echo' && rest.every((word) => !word.mayBeFlag)) return pathRoots(rest);
  if (name === 'printf' && /^%s\\[n0]$/.test(rest[0]?.literal ?? '')) return pathRoots(rest.slice(1));
  const lister = findRecord(name)?.lists;
  return lister && rootsOf(lister, rest);
}

/** Return the roots of find's output: its start folders, unless it follows links or formats its lines. */
function foundBelow(words: readonly ShellWord[]): Roots {
  const judged = FIND.judge?.(words, { changesDirectory: false, functions: new Set() });
  const isOther = words.some(({ literal }) => /^-(?:L|follow|printf|ls)$/.test(literal ?? ''));
  return judged && judged.problem === undefined && !isOther ? pathRoots(judged.reads) : undefined;
}

function listedByGit(words: readonly ShellWord[]): Roots {
  const rest = words[0]?.literal === '--no-pager' ? words.slice(1) : words;
  const name = rest[0]?.literal ?? '';
  const lister = subcommandOf('git', name)?.lists;
  // `:/` and `:(top)` start at the root of the repository, outside the working directory.
  return !lister || rest.some(({ prefix }) => prefix.startsWith(':')) ? undefined : rootsOf(lister, rest.slice(1));
}

function rootsOf(lister: ListingOptions, words: readonly ShellWord[]): Roots {
  let isListing = lister.needs === undefined;
  const check = (given: ParsedArguments): undefined => {
    isListing ||= given.flags.some(({ name }) => lister.needs?.includes(name));
  };
  const { problem, reads } = judgeProgram(
    { ...lister, check, ...(lister.isHere && { readsHere: lister.isHere }) },
    words,
    { changesDirectory: false, functions: new Set() },
  );
  const named = isListing && problem === undefined ? pathRoots(reads) : undefined;
  return named && lister.printsHere ? ['.', ...named] : named;
}

/**
 * Return the roots of the paths that words may become.
 *
 * @returns undefined if one is unknown, or splitting could turn its text into another path.
 */
export function pathRoots(words: readonly ShellWord[]): Roots {
  const roots = words.map((word) => word.roots ?? word.patterns);
  if (!roots.every((paths) => paths !== undefined)) return undefined;
  const all = roots.flat();
  return all.every((path) => /^[^\s'"\\]+$/.test(path)) ? all : undefined;
}
