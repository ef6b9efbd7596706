/**
 * Detects programs of awk, bc, jq and sed that never end: `for (;;)`, `while (1)`, `:a;ba`, `def f: f`.
 *
 * A loop counts as endless if the program never changes its condition. Programs that only take very long are left to
 * the time limit.
 */

/** Upper bound of the loops or functions examined in one program; a program with more counts as endless. */
const MAX_LOOPS = 16;

/** Upper bound of the characters examined between two brackets. */
const MAX_BRACKET_CHARS = 2_000;

/** Functions whose result depends only on their arguments. */
const PURE_FUNCTION = /^(?:length|index|substr|match|int|log|exp|sqrt|sin|cos|atan2|tolower|toupper|sprintf|scale)$/;

/** Assignments to a field, which also change the record and the number of its fields. */
const CHANGES_RECORD = /\$[^;{}=<>!~$]*(?:=(?!=)|\+\+|--)|\bg?sub\s*\(/;

/** Names that are assigned, incremented, decremented, or passed to a function that changes them. */
const ASSIGNMENT =
  /(?<!\w)([A-Za-z_]\w*)\s*(?:\[[^\][]*\]\s*)?(?:[-+*/%^]?=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)|\(\s*([A-Za-z_]\w*)\s+in\b/g;
const CHANGING_CALL = /\b(?:delete|g?sub|split|patsplit|asorti?|read)\b([^;}]*)/g;

/**
 * Report whether a loop with the syntax of C may never end.
 *
 * @param code Program of awk or bc, with the contents of its strings, patterns and comments removed.
 */
export function hasEndlessLoop(code: string): boolean {
  const loops = [...code.matchAll(/\b(for|while)\s*\(/g)];
  if (loops.length === 0) return false;
  if (loops.length > MAX_LOOPS) return true;
  const changed = changedNames(code);
  return loops.some(({ index, 0: { length }, 1: keyword }) => {
    const { parts, end } = bracketParts(code, index + length);
    const condition = keyword === 'while' ? parts[0] : parts.length === 3 ? parts[1] : undefined;
    if (condition === undefined || !isConstant(condition, changed)) return false;
    // The body of `do` precedes its condition.
    const body = /\bdo\b/.test(code) ? code : bodyAt(code, end);
    return !/\b(?:break|exit|return|next|nextfile|quit|halt)\b/.test(body);
  });
}

/** Split the text up to the closing bracket at each `;`. @param start Position after the opening bracket. */
function bracketParts(code: string, start: number): { readonly parts: readonly string[]; readonly end: number } {
  const parts: string[] = [];
  let depth = 0;
  let from = start;
  const stop = Math.min(code.length, start + MAX_BRACKET_CHARS);
  for (let at = start; at < stop; at++) {
    const character = code[at] ?? '';
    if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character) && depth-- === 0)
      return { parts: [...parts, code.slice(from, at)], end: at + 1 };
    else if (character === ';' && depth === 0) {
      parts.push(code.slice(from, at));
      from = at + 1;
    }
  }
  return { parts: [...parts, code.slice(from, stop)], end: stop };
}

function bodyAt(code: string, start: number): string {
  const opening = /^\s*\{/.exec(code.slice(start))?.[0];
  if (opening === undefined) return /^[^;\n}]*/.exec(code.slice(start))?.[0] ?? '';
  return code.slice(start, bracketParts(code, start + opening.length).end);
}

function changedNames(code: string): ReadonlySet<string> {
  const names = [...code.matchAll(ASSIGNMENT)].map(([, before, behind, each]) => before ?? behind ?? each ?? '');
  const taken = [...code.matchAll(CHANGING_CALL)].flatMap(([, given = '']) => given.match(/[A-Za-z_]\w*/g) ?? []);
  const changed = new Set([...names, ...taken]);
  if (/\bmatch\s*\(/.test(code)) changed.add('RSTART').add('RLENGTH');
  if (CHANGES_RECORD.test(code) || changed.has('NF')) changed.add('NF').add('$');
  return changed;
}

/** Report whether the program never changes the value of a condition. */
function isConstant(condition: string, changed: ReadonlySet<string>): boolean {
  if (/(?<![=<>!])=(?!=)|\+\+|--/.test(condition)) return false;
  const names = condition.match(/[A-Za-z_]\w*(?:\s*\()?|\$/g) ?? [];
  return names.every((name) =>
    name.endsWith('(') ? PURE_FUNCTION.test(name.slice(0, -1).trim()) : !changed.has(name),
  );
}

/** Report whether a program of bc may calculate without end, or for an unreasonable time. */
export function isEndlessCalculation(program: string): boolean {
  const code = program.replace(/"[^"]*"|\/\*(?:[^]*?\*\/|[^]*$)|#.*/g, '""');
  const isLarge = /\^\s*\(?\s*\d{6}|\^[\s\d(-]*\^|\bscale\s*=\s*\d{5}|\b[acejls]\s*\(\s*\d{6}/.test(code);
  const isVariable = /\^\s*\(*[a-z]/.test(code) && /\d{6}|\^[^^]*\^/.test(code);
  return isLarge || isVariable || hasEndlessLoop(code);
}

/** Functions of jq that never end, or only under a condition that never changes. */
const ENDLESS_CALL =
  /\b(?:repeat\s*\(|range\s*\([^()]*(?:\binfinite\b|\d{9}|\de\+?\d)|(?:while|until)\s*\(\s*(?:true|false|null|\d+|"[^"\\]*")\s*;|recurse\s*\(\s*(?!\.(?:[[\w"]|\?)))/g;

/** Callers of jq that take a limited number of results. */
const LIMITING_CALL = /\b(?:limit\s*\(\s*\d{1,6}\s*;|(?:first|isempty)\s*\()/g;

/** Report whether a program of jq may never end: it repeats without a limit, or a function calls itself. */
export function isEndlessFilter(program: string): boolean {
  const limited = [...program.matchAll(LIMITING_CALL)].slice(0, MAX_LOOPS).map(({ index, 0: { length } }) => ({
    start: index + length,
    end: bracketParts(program, index + length).end,
  }));
  const isLimited = (at: number) => limited.some(({ start, end }) => start <= at && at < end);
  return [...program.matchAll(ENDLESS_CALL)].some(({ index }) => !isLimited(index)) || callsItself(program);
}

function callsItself(program: string): boolean {
  const definitions = [...program.matchAll(/\bdef\s+(\w+)\s*(?:\([^()]*\))?\s*:/g)];
  if (definitions.length > MAX_LOOPS) return true;
  return definitions.some(({ index, 0: { length }, 1: name = '' }) => {
    const [body = ''] = bracketParts(program, index + length).parts;
    if (body.length === MAX_BRACKET_CHARS) return true;
    // A nested definition contains a `;` of its own, so recursion may follow it.
    return new RegExp(`(?<![.$\\w])(?:${name}|def)\\b`).test(body);
  });
}

/** One address of sed, or of the block around a command, with its index among the commands. */
interface Guard {
  readonly address: string;
  readonly at: number;
}

interface SedCommand {
  readonly letter: string;
  readonly guards: readonly Guard[];
}

/**
 * Create a detector of endless loops in a sed script.
 *
 * @returns Accepts the next command; true if it jumps back to a label and nothing in between ever ends the loop.
 */
export function sedLoopFinder(): (letter: string, address: string, label: string) => boolean {
  const labels = new Map<string, number>();
  const blocks: Guard[] = [];
  const seen: SedCommand[] = [];
  return (letter, address, label) => {
    if (seen.length === MAX_SED_COMMANDS) return /[bT]/.test(letter) && label !== '';
    const own = { address, at: seen.length };
    if (letter === '}') blocks.pop();
    const command = { letter, guards: [...blocks, own].filter((guard) => guard.address !== '') };
    seen.push(command);
    if (letter === '{') blocks.push(own);
    if (letter === ':') labels.set(label, own.at);
    const start = /[bT]/.test(letter) && label !== '' ? labels.get(label) : undefined;
    return start !== undefined && isEndlessBranch(command, seen.slice(start, -1), start);
  };
}

/** Upper bound of the commands examined for loops in a sed script; a branch after them counts as endless. */
const MAX_SED_COMMANDS = 128;

function isEndlessBranch(branch: SedCommand, body: readonly SedCommand[], start: number): boolean {
  const holds = (letters: RegExp) => body.some(({ letter }) => letters.test(letter));
  const changesText = holds(/[sygGxzNnD]/);
  const changesLine = holds(/[Nn]/);
  const mayChange = ({ address }: Guard) => (/[/\\]/.test(address) ? changesText : changesLine);
  const inner = ({ guards }: SedCommand) => guards.filter(({ at }) => at >= start);
  if (inner(branch).some(mayChange) || (branch.letter === 'T' && holds(/s/))) return false;
  return !body.some((command) => {
    if (!/[NndDqQbtT]/.test(command.letter)) return false;
    const guards = inner(command);
    // `$!N` does nothing on the last line, where N alone would end the script.
    if (/[Nn]/.test(command.letter) && guards.some(({ address }) => /^\$\s*!/.test(address))) return false;
    return guards.length === 0 || guards.some(mayChange);
  });
}
