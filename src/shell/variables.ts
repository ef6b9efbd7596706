/**
 * Computes the possible values of the variables of one script.
 *
 * Order and branches are ignored: a variable may hold any value assigned to it in the script. Values from `read`, a
 * pipe or the environment are unknown.
 */
import { forEachChild, type ParsedScript, type SyntaxNode, type Word } from 'unbash';
import { isIntegerWord } from './arithmetic.ts';
import { listedRoots, listingLoop, pathRoots, producersOf, readTarget, silencesErrors } from './listing.ts';
import { findRecord } from './programs/index.ts';
import { isPrivateName, type Variables } from './variable-values.ts';
import { assignedText, decodeWord } from './word.ts';
import { isHarmlessVariable } from './wrappers.ts';

/** Lines of a listing, which `read` takes one by one. */
interface ListedLines {
  readonly producers: readonly SyntaxNode[];
}

/** Upper bound of the values of one variable. */
const MAX_VALUES = 64;

type Binding = Word | ListedLines | 'integer' | 'unknown';

/** Parameters that bash maintains itself, and that are always integers. */
const INTEGER_PARAMETERS = new Set([
  '?',
  '#',
  '$',
  '!',
  'RANDOM',
  'SECONDS',
  'LINENO',
  'UID',
  'EUID',
  'PPID',
  'BASHPID',
  'EPOCHSECONDS',
  'SRANDOM',
]);

/** Revisions are single words. Of `git log` only counts and formats are accepted that print nothing but commits. */
const REVISION = '(?: \\w[\\w./^~@{}-]*)';

const LOG_OPTIONS = '(?: (?:-\\d+|-n ?\\d+|--reverse|--no-merges|--merges|--first-parent))*';

const COMMIT_OUTPUT = new RegExp(
  `^git (?:(?:merge-base|rev-parse(?: --short| --verify)*|rev-list (?:-1|-n 1|--max-count=1))${REVISION}{1,2}` +
    `|log${LOG_OPTIONS} --(?:format=|pretty=format:)%[hH]${LOG_OPTIONS}${REVISION}?(?: --(?: [\\w.*/]+)+)?)$`,
);

/**
 * Report whether the values assigned to a name are followed. Assigning a name that is not private is reported by
 * itself, except for names that may precede a command and then apply to that command only.
 */
function isFollowed(name: string): boolean {
  return (
    isPrivateName(name) ||
    !/^(?:IFS|LANG|LC_\w+|\w*PAGER|LANGUAGE|TZ|TERM|\w*COLORS?|CLICOLOR|COLUMNS|LINES)$/.test(name)
  );
}

/** Collect the assignments of a script. */
export function collectVariables(script: ParsedScript): Variables {
  const bindings = new Map<string, Binding[]>();
  const bind = (name: string, binding: Binding): void => {
    const known = bindings.get(name);
    if (known) known.push(binding);
    else bindings.set(name, [binding]);
  };
  const fed = new Map<SyntaxNode, ListedLines>();
  const arrays = new Set<string>();
  const visit = (node: SyntaxNode): void => {
    for (const name of arrayNames(node)) arrays.add(name);
    // The traversal meets a loop before the `read` in it.
    const loop = listingLoop(node);
    for (const reader of loop?.readers ?? []) fed.set(reader, { producers: loop?.producers ?? [] });
    const lines = fed.get(node);
    if (lines) bind(readTarget(node) ?? '', lines);
    else collect(node, bind);
    forEachChild(node, visit);
  };
  visit(script);
  return variablesFrom(bindings, arrays);
}

function collect(node: SyntaxNode, bind: (name: string, binding: Binding) => void): void {
  switch (node.type) {
    case 'Assignment': {
      const { value } = node;
      // `a=([0]=x)` assigns x, and the result of `+=` is not computed here.
      if (value.type === 'ArrayValue')
        value.elements.forEach((element) => bind(node.name, element.text.startsWith('[') ? 'unknown' : element));
      else if (node.append) bind(node.name, /^\d+$/.test(value.text) ? 'integer' : 'unknown');
      // Braces and lists expand to several words elsewhere, but to one text in an assignment.
      else if (mayBeSeveralWords(value)) bind(node.name, 'unknown');
      else bind(node.name, value);
      return;
    }
    case 'For':
    case 'Select':
      for (const word of node.wordlist ?? []) bind(node.name.value, word);
      if (!node.wordlist) bind(node.name.value, 'unknown');
      return;
    case 'ArithmeticBinary':
      if (/^(?:[-+*/%&|^]|<<|>>)?=$/.test(node.operator) && node.left.type === 'ArithmeticWord')
        bindName(node.left.value, bind);
      return;
    case 'ArithmeticUnary':
      if (/^(?:\+\+|--)$/.test(node.operator) && node.operand.type === 'ArithmeticWord')
        bindName(node.operand.value, bind);
      return;
    case 'ParameterExpansion':
      if (node.operation?.type === 'Default' && node.operation.operator.endsWith('=')) bind(node.parameter, 'unknown');
      return;
    case 'Command':
      if (!node.name || findRecord(node.name.value)?.isAssigning !== true) return;
      for (const word of node.args)
        if (word.type === 'Word') bind(word.value.replace(/^-(?:v|[rse]*a)/, ''), 'unknown');
      return;
    default:
      return;
  }
}

/** List the arrays that a node declares: `a=(x)`, `a[0]=x`, `declare -a a`, `read -ra a`, `mapfile a`. */
function arrayNames(node: SyntaxNode): readonly string[] {
  if (node.type === 'Assignment') return node.index || node.value.type === 'ArrayValue' ? [node.name] : [];
  if (node.type !== 'Command') return [];
  const words = node.args.flatMap((word) => (word.type === 'Word' ? [word.value] : []));
  const isDeclaring = words.some((word) => /^(?:-\w*[aA]|mapfile$|readarray$)/.test(word));
  if (!isDeclaring && !/^(?:mapfile|readarray)$/.test(node.name?.value ?? '')) return [];
  return [...words, ...node.suffix.flatMap((item) => (item.type === 'Assignment' ? [item.name] : []))];
}

function mayBeSeveralWords({ parts = [] }: Word): boolean {
  return parts.some(
    (part) => part.type === 'BraceExpansion' || (part.type === 'DoubleQuoted' ? part.parts : [part]).some(isList),
  );
}

function isList(part: SyntaxNode): boolean {
  return part.type === 'ParameterExpansion' && part.prefix === undefined && part.index?.text === '@';
}

function bindName(target: string, bind: (name: string, binding: Binding) => void): void {
  bind(/^\w+/.exec(target)?.[0] ?? target, 'integer');
}

function variablesFrom(bindings: ReadonlyMap<string, readonly Binding[]>, arrays: ReadonlySet<string>): Variables {
  const values = new Map<string, readonly string[] | undefined>();
  const roots = new Map<string, readonly string[] | undefined>();
  const outputs = new WeakMap<ParsedScript, readonly string[] | undefined>();
  const integers = new Map<string, boolean>();
  const variables: Variables = {
    valuesOf(name) {
      if (values.has(name)) return values.get(name);
      values.set(name, undefined); // Set first: a variable defined by itself has no bounded value.
      const found = isFollowed(name) ? (bindings.get(name) ?? []) : [];
      const known = found.length > 0 ? found.map((binding) => valuesOfBinding(binding, variables)) : [undefined];
      const all = known.every((value) => value !== undefined) ? known.flat() : undefined;
      const result = all && all.length <= MAX_VALUES ? all : undefined;
      values.set(name, result);
      return result;
    },
    rootsOf(name) {
      if (roots.has(name)) return roots.get(name);
      roots.set(name, undefined);
      const found = isFollowed(name) ? (bindings.get(name) ?? []) : [];
      const known = found.length > 0 ? found.map((binding) => rootsOfBinding(binding, variables)) : [undefined];
      const result = known.every((value) => value !== undefined) ? known.flat() : undefined;
      roots.set(name, result);
      return result;
    },
    rootsOfLines: (commands) => listedRoots(commands, variables),
    rootsOfOutput(output) {
      if (!output) return undefined;
      // Cached because each level of nested substitutions would otherwise search all levels below it.
      if (!outputs.has(output)) outputs.set(output, listedRoots(producersOf(output), variables));
      return outputs.get(output);
    },
    isInteger(name) {
      if (INTEGER_PARAMETERS.has(name)) return true;
      const known = integers.get(name);
      if (known !== undefined) return known;
      integers.set(name, false); // Set first: results cached for other variables in between must hold whatever this one turns out to be.
      const found = isPrivateName(name) ? (bindings.get(name) ?? []) : [];
      const result = found.length > 0 && found.every((binding) => isIntegerBinding(binding, variables));
      integers.set(name, result);
      return result;
    },
    isArray: (name) => arrays.has(name),
    isIntegerOutput,
    isCommitOutput,
  };
  return variables;
}

function rootsOfBinding(binding: Binding, variables: Variables): readonly string[] | undefined {
  if (typeof binding === 'string') return undefined;
  return 'producers' in binding ? listedRoots(binding.producers, variables) : pathRoots(decodeWord(binding, variables));
}

function valuesOfBinding(binding: Binding, variables: Variables): readonly string[] | undefined {
  if (typeof binding === 'string' || 'producers' in binding) return undefined;
  const words = decodeWord(binding, variables);
  const known = words.map((word) => word.patterns);
  return known.every((patterns) => patterns !== undefined) ? known.flat() : undefined;
}

function isIntegerBinding(binding: Binding, variables: Variables): boolean {
  if (typeof binding === 'string' || 'producers' in binding) return binding === 'integer';
  return decodeWord(binding, variables).every(
    (word) =>
      word.isInteger === true ||
      (word.literal !== undefined && /^-?\d{0,18}$/.test(word.literal) && word.literal !== '-'),
  );
}

/**
 * Report whether a substitution prints commit names and nothing else; `rev-parse` echoes arguments that it does not
 * know.
 */
function isCommitOutput(script: ParsedScript | undefined): boolean {
  const [producer, ...more] = producersOf(script);
  if (producer?.type !== 'Command' || more.length > 0 || producer.prefix.length > 0) return false;
  const words = [producer.name, ...producer.suffix].map((item) =>
    item?.type === 'Word' && /^[\w%=:./^~@{}*'"-]+$/.test(item.text) ? item.text.replace(/['"]/g, '') : '$',
  );
  return COMMIT_OUTPUT.test(words.join(' '));
}

/** Report whether the last command of a substitution prints only integers, one a line; error messages would be text. */
function isIntegerOutput(script: ParsedScript | undefined): boolean {
  const [statement, ...more] = script?.commands ?? [];
  if (!statement || more.length > 0) return false;
  const { command } = statement;
  const last = command.type === 'Pipeline' ? command.commands.at(-1) : command;
  if (last?.type !== 'Command' || !last.redirects.every((item) => /^<+-?$/.test(item.operator) || silencesErrors(item)))
    return false;
  const plain = (word: (typeof last.args)[number]) =>
    word.type === 'Word' && !/[$`*?[{<>()]/.test(word.text) ? word.value : '$';
  const text = [last.name?.value, ...last.args.map(plain)].join(' ');
  return /^(?:wc -[lcwm]|nproc|date \+%s|id -u|pgrep(?: -[fnox]+)* [\w.-]+|pidof [\w.-]+|grep -c [\w.][\w.-]*(?: [\w./][\w./-]*)?|stat -c %[sY] [^ ]+|git rev-list --count [\w./-]+)$/.test(
    text,
  );
}

type Assignment = Extract<SyntaxNode, { type: 'Assignment' }>;

/**
 * Explain why an assignment does more than read, or return undefined. Examines this node only.
 *
 * @param command Command that the assignment belongs to; absent if it is a statement of its own.
 */
export function assignmentProblem(node: Assignment, variables: Variables, command?: string): string | undefined {
  const isDeclared = findRecord(command ?? '')?.isDeclaring === true;
  if (!mayBeSet(node, variables, isDeclared ? undefined : command)) return `it sets "${node.name}"`;
  if (isDeclared && mayBeList(node, variables)) return `what "${node.name}" is given is evaluated as a list`;
  return evaluatesSubscript(node, variables) ? 'a subscript is evaluated as arithmetic' : undefined;
}

/** Report whether a variable may be set. The shell's own variables must not change, except some for one command. */
function mayBeSet(node: Assignment, variables: Variables, command: string | undefined): boolean {
  if (command === undefined) return isPrivateName(node.name);
  const literal = assignedText(node, variables);
  // `IFS= read` changes only how that line is split.
  const isForRead = command === 'read' && node.name === 'IFS' && literal !== undefined;
  return isForRead || isHarmlessVariable(node.name, literal);
}

/** Report whether the text may be evaluated as an array: `declare -a a='($(c))'` runs c. */
function mayBeList({ name, value }: Assignment, variables: Variables): boolean {
  if (value.type !== 'Word' || !variables.isArray(name)) return false;
  return decodeWord(value, variables).some(({ prefix }) => prefix === '' || prefix.startsWith('('));
}

/** Report whether an assignment parses a text again as the subscript of an element: `a[$x]=1`. */
export function evaluatesSubscript({ index, value }: Assignment, variables: Variables): boolean {
  if (index && !isIntegerWord(index, variables)) return true;
  return value.type === 'ArrayValue' && value.elements.some(({ text }) => /^\[(?!\d+\]=)/.test(text));
}
