/**
 * Random bash scripts grown from a grammar: every construct in every position, with an act in one of them.
 *
 * Each grown script says where the act stands: as `code`, which bash runs where the branch is taken, or as
 * `text`, which quotes, escapes, comments and here-documents keep from being run.
 */
import { ACTING_EXPANSIONS, ACTING_STATEMENTS, ACTS, HOSTILE_TEXTS, TROUBLE } from './payloads.ts';
import type { Random } from './random.ts';

/** A script and where its act stands: nowhere with `none`, `unsure` where quotes were left open or escapes left out. */
export interface GrownScript {
  readonly text: string;
  readonly act: 'code' | 'text' | 'unsure' | 'none';
}

/** The state of one growth. */
interface Growth {
  readonly random: Random;
  /** Whether the act is to be run. */
  readonly isCode: boolean;
  /** How probable a piece out of place is, at each place that takes text. */
  readonly trouble: number;
  /** Constructs that may still be nested. */
  fuel: number;
  hasTrouble: boolean;
  /** Bodies that follow the next line end. */
  pendingBodies: string[];
}

/** How text is quoted at one place. */
type Quoting =
  'bare' | 'single' | 'ansi' | 'double' | 'document' | 'rawDocument' | 'comment' | 'braced' | 'bracedDouble';

/** The file that an act makes where it is code, which no text names. */
const CODE_FILE = 'marker';

const NAMES = ['x', 'y', 'a', 'zz'] as const;
const PARAMETERS = ['x', 'y', 'a', 'zz', '@', '*', '#', '?', '$', '!', '-', '0', '1', '10', '_'] as const;
const PLAIN = ['a', 'f', 'b', '1', 'abc', 'd/h', '.', '%s', 'x=1', '-n', '', 'E', 'in', 'do', '}', ']]'] as const;
/** Mostly builtins: a process for each would cost more than all the rest. */
const PROGRAMS = [
  'echo',
  'echo',
  'echo',
  'printf %s',
  'printf',
  ':',
  ':',
  ':',
  'true',
  'false',
  'test',
  'test -n',
  'read x',
  'cat',
  'grep a',
] as const;
const DELIMITERS = [
  'E',
  "'E'",
  '"E"',
  '\\E',
  "E''",
  '"E F"',
  "$'E'",
  '$"E"',
  'E\\ F',
  "''",
  'E\\\nF',
  '$x',
  '`E`',
  '"$(E)"',
] as const;

/** Grow a script. */
export function growScript(random: Random): GrownScript {
  const growth: Growth = {
    random,
    isCode: random.chance(0.08),
    trouble: random.pick([0, 0, 0.03, 0.1, 0.2]),
    fuel: 1 + random.below(7),
    hasTrouble: false,
    pendingBodies: [],
  };
  const prelude = random.chance(0.4) ? preludeOf(growth) : '';
  const text = prelude + script(growth);
  const isCode = text.includes(CODE_FILE);
  if (!ACTS.test(text)) return { text, act: 'none' };
  if (growth.hasTrouble) return { text, act: 'unsure' };
  return { text, act: isCode ? 'code' : 'text' };
}

/** Variables and functions that the script may use. */
function preludeOf(growth: Growth): string {
  const { random } = growth;
  const end = (): string => random.pick([';', '\n', ' ; ']);
  switch (random.below(6)) {
    case 0:
      return `x=${quoted(growth)}${end()}`;
    case 1:
      return `a=(${quoted(growth)} ${word(growth)})${end()}`;
    case 2:
      return `shopt -s ${random.pick(['nullglob', 'globstar', 'lastpipe', 'dotglob', 'failglob'])}${end()}`;
    case 3:
      return `fn() { ${script(growth, '; ')} }${random.pick(['; ', '\n'])}fn ${word(growth)}${end()}`;
    case 4:
      return `function fn ${random.pick(['()', ''])} { ${script(growth, '\n')}}\nfn${end()}`;
    default:
      return `x=${random.pick(['1', '0', '*', '/', "'a b'", '-n', '~', '"$(echo a)"', '`echo a`'])}${end()}`;
  }
}

/** Statements that are joined; the bodies of here-documents follow the lines they belong to. */
function script(growth: Growth, ending = ''): string {
  const { random } = growth;
  const outerBodies = growth.pendingBodies;
  growth.pendingBodies = [];
  let text = random.chance(0.1) ? blank(growth) : '';
  const statements = growth.fuel > 0 ? 1 + random.below(3) : 1;
  for (let left = statements; left > 0; left--) {
    text += statement(growth);
    if (left > 1) text += joint(growth);
  }
  if (random.chance(0.06)) text += ` #${textOf(growth, 'comment')}\n`;
  if (growth.pendingBodies.length > 0) text += flushed(growth, text.endsWith('\n') ? '' : '\n');
  else if (!text.endsWith('\n')) text += ending;
  growth.pendingBodies = outerBodies;
  return text;
}

function joint(growth: Growth): string {
  const { random } = growth;
  const between = random.pick([
    '; ',
    ';',
    '\n',
    '\n',
    ' && ',
    ' || ',
    ' | ',
    '|',
    ' |& ',
    ' & ',
    '&',
    ' &&\n',
    ' |\n',
    ' \\\n; ',
    '\n\n',
    ' #',
    '\n#',
  ]);
  if (between.endsWith('#')) return flushed(growth, `${between}${textOf(growth, 'comment')}\n`);
  return between.endsWith('\n') ? flushed(growth, between) : between;
}

function flushed(growth: Growth, lineEnd: string): string {
  return lineEnd + growth.pendingBodies.splice(0).join('');
}

function statement(growth: Growth): string {
  const { random } = growth;
  if (growth.isCode && random.chance(0.25)) return act(growth, ACTING_STATEMENTS);
  if (growth.fuel-- <= 0 || random.chance(0.5)) return simple(growth);
  switch (random.below(15)) {
    case 0:
      return `{ ${script(growth, '; ')}}${redirections(growth)}`;
    case 1:
      return `(${script(growth)})${redirections(growth)}`;
    case 2:
      return `if ${script(growth, '; ')}then ${script(growth, '; ')}${random.chance(0.3) ? `else ${script(growth, '; ')}` : ''}fi`;
    case 3:
      return `while ${script(growth, '; ')}do ${script(growth, '; ')}break; done${redirections(growth)}`;
    case 4:
      return `until ${script(growth, '; ')}do ${script(growth, '; ')}break; done`;
    case 5:
      return `for ${random.pick(NAMES)} in ${words(growth)}${random.pick(['; ', '\n'])}do ${script(growth, '; ')}done`;
    case 6:
      return `for (( i=0; i<2; i++ )); do ${script(growth, '; ')}done`;
    case 7:
    case 8:
      return caseStatement(growth);
    case 9:
    case 10:
      return `[[ ${test(growth)} ]]`;
    case 11:
      return `(( ${arithmetic(growth)} ))`;
    case 12:
      return `${random.pick(['! ', 'time ', 'time -p '])}${simple(growth)}`;
    case 13:
      return `select ${random.pick(NAMES)} in ${words(growth)}; do ${script(growth, '; ')}break; done`;
    default:
      return `for (( i=${arithmetic(growth)}; i<1; i++ )) { ${script(growth, '; ')}}`;
  }
}

function caseStatement(growth: Growth): string {
  const { random } = growth;
  let items = '';
  for (let left = 1 + random.below(2); left > 0; left--) {
    const patterns = `${random.chance(0.4) ? '(' : ''}${pattern(growth)}${random.chance(0.3) ? ` | ${pattern(growth)}` : ''}`;
    const end = left > 1 || random.chance(0.6) ? random.pick([';;', ' ;; ', ';;\n', ';&', ' ;;& ']) : '\n';
    const body = script(growth);
    items += `${patterns}) ${body}${body.endsWith('\n') || end !== '\n' ? end : `${end}`}`;
  }
  return `case ${word(growth)} in${random.pick([' ', '\n'])}${items}${random.pick(['', ' ', '\n'])}${/[\n;& ]$/.test(items) ? '' : ' '}esac`;
}

function simple(growth: Growth): string {
  const { random } = growth;
  let text = '';
  if (random.chance(0.08)) text += `${assignment(growth)}${random.chance(0.5) ? ';' : ''}${blank(growth)}`;
  if (random.chance(0.05)) text += `${redirection(growth)}${blank(growth)}`;
  text += random.pick(PROGRAMS);
  for (let left = random.below(3); left > 0; left--) text += blank(growth) + word(growth);
  if (random.chance(0.3)) text += redirections(growth);
  return text;
}

function assignment(growth: Growth): string {
  const { random } = growth;
  const name = random.pick(NAMES);
  switch (random.below(5)) {
    case 0:
      return `a=(${words(growth)})`;
    case 1:
      return `a[${random.pick(['0', '1', arithmetic(growth)])}]=${word(growth)}`;
    case 2:
      return `${name}+=${word(growth)}`;
    case 3:
      return `a=([0]=${word(growth)} ${random.pick(['[1]', '[x]'])}=${word(growth)})`;
    default:
      return `${name}=${word(growth)}`;
  }
}

function redirections(growth: Growth): string {
  return growth.random.chance(0.4) ? ` ${redirection(growth)}` : '';
}

function redirection(growth: Growth): string {
  const { random } = growth;
  switch (random.below(8)) {
    case 0:
      return '2>&1';
    case 1:
      return random.pick([
        '>/dev/null',
        '2>/dev/null',
        '&>/dev/null',
        '>> /dev/null',
        '<f',
        '< f',
        '3<f',
        '2>&-',
        '<&-',
      ]);
    case 2:
      return `<<< ${word(growth)}`;
    case 3:
      return `< <(${script(growth)})`;
    case 4:
      return `<<<${word(growth)}`;
    default:
      return hereDocument(growth);
  }
}

function hereDocument(growth: Growth): string {
  const { random } = growth;
  const isPlain = random.chance(0.6);
  const delimiter = random.chance(0.75)
    ? random.pick(isPlain ? (['E', 'E'] as const) : (["'E'", '"E"', '\\E'] as const))
    : random.pick(DELIMITERS);
  const isRaw = /['"\\]/.test(delimiter);
  const end = delimiter.replace(/\\\n|\$(?=["'])|["'\\]/g, '');
  const strips = random.chance(0.25);
  const indent = (): string => (strips ? random.pick(['', '\t', '\t\t']) : '');
  let body = '';
  for (let left = random.below(3); left > 0; left--)
    body += `${indent()}${isRaw ? textOf(growth, 'rawDocument') : documentLine(growth)}\n`;
  // A line of the text that looks like the end would be the end.
  const lines = body
    .split('\n')
    .map((line) => ((strips ? line.replace(/^\t+/, '') : line) === end ? `${line}.` : line));
  growth.pendingBodies.push(`${lines.join('\n')}${indent()}${end}\n`);
  return `${random.pick(['', '', '3', '0'])}<<${strips ? '-' : ''}${random.pick(['', ' '])}${delimiter}`;
}

function documentLine(growth: Growth): string {
  let text = '';
  for (let left = 1 + growth.random.below(2); left > 0; left--)
    text += growth.random.chance(0.5) ? textOf(growth, 'document') : expansion(growth, 'document');
  return text;
}

function words(growth: Growth): string {
  let text = word(growth);
  for (let left = growth.random.below(3); left > 0; left--) text += blank(growth) + word(growth);
  return text;
}

function word(growth: Growth): string {
  const { random } = growth;
  let text = '';
  for (let left = 1 + random.below(3); left > 0; left--) text += segment(growth);
  return text;
}

function segment(growth: Growth): string {
  const { random } = growth;
  switch (random.below(14)) {
    case 0:
    case 1:
      return textOf(growth, 'bare');
    case 2:
    case 3:
    case 4:
      return quoted(growth);
    case 5:
    case 6:
    case 7:
    case 8:
      return expansion(growth, 'bare');
    case 9:
      return random.pick([
        '*',
        '?',
        '[ab]',
        '[!a]',
        '[^]a]',
        '[[:alpha:]]',
        '{a,b}',
        '{1..3}',
        '{a,',
        '~',
        '~+',
        ',b}',
      ]);
    case 10:
      return growth.fuel-- > 0 ? `${random.chance(0.02) ? '>(' : '<('}${script(growth)})` : 'a';
    case 11:
      return random.pick(['\\\n', '\\a', '\\ ', '\\;', "\\'", '\\"', '\\$', '\\`', '\\\\', '\\#', '\\(']);
    default:
      return random.pick(PLAIN);
  }
}

/** Text between quotes of some kind. */
function quoted(growth: Growth): string {
  const { random } = growth;
  switch (random.below(5)) {
    case 0:
    case 1:
      return `'${textOf(growth, 'single')}'`;
    case 2:
      return `$'${textOf(growth, 'ansi')}'`;
    default:
      return `${random.chance(0.15) ? '$' : ''}"${doubleQuoted(growth)}"`;
  }
}

function doubleQuoted(growth: Growth): string {
  let text = '';
  for (let left = 1 + growth.random.below(3); left > 0; left--)
    text += growth.random.chance(0.5) ? textOf(growth, 'double') : expansion(growth, 'double');
  return text;
}

/** A parameter, a substitution, or arithmetic. */
function expansion(growth: Growth, quoting: 'bare' | 'double' | 'document'): string {
  const { random } = growth;
  if (growth.isCode && random.chance(0.15)) {
    const acting = act(growth, ACTING_EXPANSIONS);
    return quoting === 'bare' ? acting : acting.replaceAll('"', '');
  }
  if (growth.fuel-- <= 0)
    return random.pick(
      ['$x', '${x}', '$1', '$?', '$$', '$(echo a)', '`echo a`', '$((1))', '"$@"'].slice(0, quoting === 'bare' ? 9 : 8),
    );
  switch (random.below(9)) {
    case 0:
      return `$(${script(growth)}${random.pick(['', ' ', '\n'])})`;
    case 1:
      return `\`${backquoted(script(growth), quoting)}\``;
    case 2:
      return `$((${arithmetic(growth)}))`;
    case 3:
      return random.pick([
        '$x',
        '${x}',
        '$@',
        '$*',
        '$#',
        '$-',
        '$_',
        '${#x}',
        '${#a[@]}',
        '${a[@]}',
        '${a[0]}',
        '${!x*}',
        '${!a[@]}',
        '$$',
        '${#}',
        '${$}',
        '${##}',
        '${#?}',
        '${x@Q}',
        '${x@U}',
      ]);
    default:
      return parameter(growth, quoting);
  }
}

function parameter(growth: Growth, quoting: 'bare' | 'double' | 'document'): string {
  const { random } = growth;
  const name = random.chance(0.15) ? random.pick(['a[@]', 'a[*]', 'a[0]', 'a[1]']) : random.pick(PARAMETERS);
  const isDouble = quoting !== 'bare';
  switch (random.below(5)) {
    case 0:
      return `\${${name}${random.pick([':-', '-', ':+', '+', ':=', '=', ':?', '?'])}${operand(growth, isDouble)}}`;
    case 1:
      return `\${${name}${random.pick(['#', '##', '%', '%%'])}${pattern(growth)}}`;
    case 2:
      return `\${${name}${random.pick(['/', '//', '/#', '/%'])}${pattern(growth).replaceAll('/', '\\/')}${random.chance(0.85) ? `/${operand(growth, isDouble)}` : ''}}`;
    case 3:
      return `\${${name}${random.pick(['^', '^^', ',', ',,'])}${random.chance(0.7) ? pattern(growth) : ''}}`;
    default:
      return `\${${name}:${random.pick(['0', '1', ' -1', '$x', arithmetic(growth)])}${random.chance(0.5) ? `:${random.pick(['1', '$#', arithmetic(growth)])}` : ''}}`;
  }
}

/** What stands behind `:-` and its kin: between double quotes it follows their rules. */
function operand(growth: Growth, isDouble: boolean): string {
  const { random } = growth;
  let text = '';
  for (let left = random.below(3); left > 0; left--) {
    if (random.chance(0.4)) text += textOf(growth, isDouble ? 'bracedDouble' : 'braced');
    else if (random.chance(0.3)) text += isDouble ? `"${doubleQuoted(growth)}"` : quoted(growth);
    else text += expansion(growth, isDouble ? 'double' : 'bare');
  }
  return text;
}

function pattern(growth: Growth): string {
  const { random } = growth;
  let text = '';
  for (let left = 1 + random.below(2); left > 0; left--) {
    switch (random.below(6)) {
      case 0:
        text += random.pick([
          '*',
          '?',
          '[a-z]',
          '[!a]',
          '[^]]',
          '@(a|b)',
          '+(a)',
          '!(a|b)',
          '?(a)',
          '[[:space:]]',
          'a',
        ]);
        break;
      case 1:
        text += quoted(growth);
        break;
      case 2:
        text += expansion(growth, 'bare');
        break;
      case 3:
        text += textOf(growth, 'braced');
        break;
      default:
        text += random.pick(['a', 'b', '\\*', '\\}', '\\)', '"a"', "'b'", '$x', '1']);
    }
  }
  return text;
}

function test(growth: Growth): string {
  const { random } = growth;
  switch (random.below(9)) {
    case 0:
      return `${random.pick(['-n', '-z', '-f', '-e', '-d', '-t', '!'])} ${word(growth)}`;
    case 1:
    case 2:
      return `${word(growth)} ${random.pick(['==', '!=', '='])} ${pattern(growth)}`;
    case 3:
      return `${word(growth)} =~ ${random.pick(['a', '^a$', '(a|b)', '[ab]+', 'a{1,2}', `(${pattern(growth)})`, word(growth)])}`;
    case 4:
      return `${random.pick(['1', '$x', '$(echo 1)', word(growth)])} ${random.pick(['-eq', '-lt', '-ge'])} ${random.pick(['1', '$#', arithmetic(growth)])}`;
    case 5:
      return `${word(growth)} ${random.pick(['<', '>'])} ${word(growth)}`;
    case 6:
      return growth.fuel-- > 0 ? `( ${test(growth)} )` : 'a';
    case 7:
      return growth.fuel-- > 0 ? `${test(growth)} ${random.pick(['&&', '||', '&&\n'])} ${test(growth)}` : '1';
    default:
      return word(growth);
  }
}

function arithmetic(growth: Growth): string {
  const { random } = growth;
  if (growth.fuel-- <= 0) return random.pick(['0', '1', 'i', '$#', '0x1']);
  switch (random.below(10)) {
    case 0:
      return `${arithmetic(growth)} ${random.pick(['+', '-', '*', '<<', '>>', '<', '>', '&', '|', '^', '&&', '||', ',', '==', '!='])} ${arithmetic(growth)}`;
    case 1:
      return `(${arithmetic(growth)})`;
    case 2:
      return `${arithmetic(growth)} ? ${arithmetic(growth)} : ${arithmetic(growth)}`;
    case 3:
      return `$(echo ${random.pick(['1', word(growth)])} | wc -c)`;
    case 4:
      return `\${#${random.pick(['x', 'a[@]', '@'])}}`;
    case 5:
      return random.pick(['i++', '++i', 'i=1', 'i+=1', '-1', '!1', '~1', '2#101', "'1'", '"1"', 'a[0]', 'x', '$x']);
    default:
      return random.pick(['0', '1', '2', 'i', '$#', '07']);
  }
}

/** Blanks between words. */
function blank({ random }: Growth): string {
  return random.chance(0.85) ? ' ' : random.pick(['  ', '\t', ' \\\n', '\\\n ', ' \\\n\\\n ']);
}

/** The act itself, as code. */
function act(growth: Growth, forms: readonly string[]): string {
  return growth.random.pick(forms).replace(/\bm\b/, CODE_FILE);
}

/** Text as one place takes it; where there is trouble, a piece out of place or an escape left out. */
function textOf(growth: Growth, quoting: Quoting): string {
  const { random } = growth;
  if (random.chance(growth.trouble)) {
    growth.hasTrouble = true;
    return random.chance(0.7) ? random.pick(TROUBLE) : random.pick(TROUBLE) + random.pick(HOSTILE_TEXTS);
  }
  const text = random.chance(0.35) ? random.pick(PLAIN) : random.pick(HOSTILE_TEXTS);
  const carelessness = growth.trouble === 0 ? 0 : 0.15;
  if (carelessness > 0) growth.hasTrouble = true;
  return escaped(growth, text, quoting, carelessness);
}

/** Characters that are special at one place. */
const SPECIAL: Readonly<Record<Quoting, RegExp>> = {
  bare: /[^\w./:@%+=-]/g,
  single: /'/g,
  ansi: /['\\]/g,
  double: /[$`"\\]/g,
  document: /[$`\\]/g,
  rawDocument: /(?!)/g,
  comment: /\n/g,
  braced: /[^\w./:@%+=-]/g,
  bracedDouble: /[$`"\\}]/g,
};

function escaped({ random }: Growth, text: string, quoting: Quoting, carelessness: number): string {
  const special = SPECIAL[quoting];
  return text.replace(special, (character) => {
    if (carelessness > 0 && random.chance(carelessness)) return character;
    if (quoting === 'single') return "'\\''";
    if (quoting === 'comment') return ' ';
    // A line end that is escaped vanishes.
    return character === '\n' && (quoting === 'bare' || quoting === 'braced') ? "'\n'" : `\\${character}`;
  });
}

/** A script between backquotes: one level of backslashes is taken away there. */
function backquoted(text: string, quoting: 'bare' | 'double' | 'document'): string {
  const inner = text.replace(/[\\`]/g, '\\$&');
  return quoting === 'double' ? inner.replace(/"/g, '\\"') : inner;
}
