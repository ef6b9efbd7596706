/** Known command lines, changed: pieces inserted, cut, doubled, quoted, joined with another line, put inside a construct. */
import { HOSTILE_TEXTS, TROUBLE } from './payloads.ts';
import type { Random } from './random.ts';

/** Constructs around a line. */
const NESTS: readonly ((line: string) => string)[] = [
  (line) => `echo "$(${line})"`,
  (line) => `echo $(${line}\n)`,
  (line) => `echo \`${line.replace(/[\\`]/g, '\\$&')}\``,
  (line) => `echo \`${line}\``,
  (line) => `echo "\${x:-$(${line})}"`,
  (line) => `echo \${x:-${line}}`,
  (line) => `echo "\${x:-${line}}"`,
  (line) => `echo "\${x/${line}/b}"`,
  (line) => `echo \${x#${line}}`,
  (line) => `case a in a) ${line};; esac`,
  (line) => `case $(${line}) in *) ls;; esac`,
  (line) => `case a in $(${line})) ls;; esac`,
  (line) => `[[ -n $(${line}) ]]`,
  (line) => `[[ a == $(${line}) ]]`,
  (line) => `cat <<E\n$(${line})\nE`,
  (line) => `cat <<E\n${line}\nE`,
  (line) => `cat <<'E'\n${line}\nE`,
  (line) => `cat <<-E\n\t${line}\n\tE`,
  (line) => `echo '${line.replaceAll("'", "'\\''")}'`,
  (line) => `echo '${line}'`,
  (line) => `echo "${line}"`,
  (line) => `echo $'${line}'`,
  (line) => `ls # ${line}`,
  (line) => `cat <(${line})`,
  (line) => `{ ${line}; }`,
  (line) => `(${line})`,
  (line) => `if ${line}; then ls; fi`,
  (line) => `for x in a b; do ${line}; done`,
  (line) => `while ${line}; do break; done`,
  (line) => `fn() { ${line}; }; fn`,
  (line) => `! ${line}`,
  (line) => `time ${line}`,
  (line) => `ls && ${line}`,
  (line) => `ls | ${line}`,
  (line) => `${line} | cat`,
  (line) => `${line} 2>&1 | head -3`,
  (line) => `command ${line}`,
  (line) => `timeout 1 ${line}`,
  (line) => `xargs ${line} <f`,
  (line) => `x='${line.replaceAll("'", "'\\''")}'; echo $x`,
  (line) => `x=$(${line}); echo "$x"`,
  (line) => `a=($(${line})); echo "\${a[@]}"`,
  (line) => `echo $(( $(${line} | wc -c) ))`,
  (line) => `${line}\nls`,
  (line) => `ls <<<"${line}"`,
];

/** Change a line in one to four ways. @param lines Others that it may be joined with. */
export function mutated(line: string, lines: readonly string[], random: Random): string {
  let text = line;
  for (let left = 1 + random.below(4); left > 0; left--) text = changed(text, lines, random);
  return text;
}

function changed(text: string, lines: readonly string[], random: Random): string {
  const at = random.below(text.length + 1);
  const end = Math.min(text.length, at + 1 + random.below(6));
  const [before, middle, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)];
  switch (random.below(13)) {
    case 0:
    case 1:
      return before + random.pick(TROUBLE) + middle + after;
    case 2:
    case 3:
    case 4:
      return before + random.pick(HOSTILE_TEXTS) + middle + after;
    case 5:
      return before + after;
    case 6:
      return before + middle + middle + after;
    case 7:
      return `${before}\\\n${middle}${after}`;
    case 8:
      return (
        before + random.pick([`'${middle}'`, `"${middle}"`, `$'${middle}'`, `\\${middle}`, `$"${middle}"`]) + after
      );
    case 9: {
      const other = random.pick(lines);
      return before + other.slice(random.below(other.length));
    }
    case 10:
      return `${text}${random.pick(['; ', '\n', ' && ', ' | ', ' '])}${random.pick(lines)}`;
    default:
      return random.pick(NESTS)(text);
  }
}

/** Constructs that pieces are put inside. */
const FRAMES: readonly (readonly [string, string])[] = [
  ['"', '"'],
  ["'", "'"],
  ["$'", "'"],
  ['$"', '"'],
  ['$(', ')'],
  ['$( ', '\n)'],
  ['$(echo ', ')'],
  ['`', '`'],
  ['`echo ', '`'],
  ['\\`', '\\`'],
  ['${x:-', '}'],
  ['${x+', '}'],
  ['${?:-', '}'],
  ['${x/', '/b}'],
  ['${?/', '}'],
  ['${x//a/', '}'],
  ['${@#', '}'],
  ['${x%%', '}'],
  ['${x^', '}'],
  ['${x:', '}'],
  ['${a[@]:', ':1}'],
  ['${x@', '}'],
  ['${#', '}'],
  ['${!', '}'],
  ['$((', '))'],
  ['$[', ']'],
  ['((', '))'],
  ['(( 1 ', ' ))'],
  ['<(', ')'],
  ['<(:', ')'],
  [' #', '\n'],
  ['\n#', '\n'],
  ['\\\n', '\\\n'],
  [' <<E\n', '\nE\n'],
  [" <<'E'\n", '\nE\n'],
  [' <<-E\n\t', '\n\tE\n'],
  [' <<\\E;', '\n\nE\n'],
  [' <<E;', '\nE\n'],
  [' <<<', ' '],
  ['[[ ', ' ]]'],
  ['[[ a == ', ' ]]'],
  ['[[ a =~ ', ' ]]'],
  ['[[ a =~ (', ') ]]'],
  ['[[ -n ', ' ]]'],
  ['case ', ' in *) :;; esac'],
  ['case a in ', ') :;; esac'],
  ['case a in (', ') :;; esac'],
  ['case a in *) ', ';; esac'],
  ['case a in b) :;; ', ') :; esac'],
  ['{ ', '; }'],
  ['{ ', '\n}'],
  ['(', ')'],
  ['a=(', ')'],
  ['a[', ']=1'],
  ['x=', ';'],
  ['x=', '\n'],
  ['{a,', '}'],
  ['@(', ')'],
  ['[', ']'],
  ['for x in ', '; do :; done'],
  ['for x in a; do ', '; done'],
  ['if ', '; then :; fi'],
  ['if :; then ', '\nfi'],
  ['fn() { ', '; }; fn'],
  ['! ', ''],
  ['time ', ''],
  ['echo ', ''],
  ['echo ', ';'],
  [': ', '\n'],
  ['| cat ', ''],
  ['&& ', ''],
];

const BEGINNINGS = ['echo ', 'echo ', ': ', '', '', 'echo a', '[[ a ]] ', 'x=', 'cat '] as const;

/** Constructs within each other and side by side, and pieces out of place among them. */
export function framedPieces(random: Random): string {
  return (
    random.pick(BEGINNINGS) +
    framed(random, 1 + random.below(4)) +
    (random.chance(0.2) ? random.pick(HOSTILE_TEXTS) : '')
  );
}

function framed(random: Random, depth: number): string {
  const [open, close] = random.pick(FRAMES);
  let text = open;
  for (let left = 1 + random.below(2); left > 0; left--) {
    if (depth > 1 && random.chance(0.7)) text += framed(random, depth - 1);
    else
      text += random.chance(0.4)
        ? random.pick(TROUBLE)
        : random.chance(0.75)
          ? random.pick(HOSTILE_TEXTS)
          : random.pick(['a', 'f', ' a ', '1', ' ']);
  }
  return text + (random.chance(0.95) ? close : '');
}

/** Pieces in a row behind a program that only prints. */
export function piecesInARow(random: Random): string {
  let text = random.pick([
    'echo ',
    'echo "',
    "echo '",
    'echo `',
    'echo $(',
    'echo ${x:-',
    'cat <<E\n',
    '[[ ',
    'case a in ',
    ': ',
    'echo $((',
    'x=',
    '',
  ]);
  for (let left = 2 + random.below(8); left > 0; left--)
    text += random.pick(
      random.chance(0.75) ? TROUBLE : random.chance(0.8) ? HOSTILE_TEXTS : ['a', 'f', ' a ', '1', 'echo '],
    );
  return text + random.pick(['', '', '"', "'", '`', ')', '}', '\nE\n', ' ]]', ' esac', '))']);
}
