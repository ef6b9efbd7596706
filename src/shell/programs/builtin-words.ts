/** Judges builtins of bash whose arguments no option table describes. */
import { flagTable, parseArguments } from '../flags.ts';
import { type CommandJudgement, NO_PATHS } from '../program-spec.ts';
import { FILE_BINARY, FILE_UNARY } from '../tested-paths.ts';
import { isPrivateName } from '../variable-values.ts';
import type { ShellWord } from '../word.ts';

/** Judge a builtin that only reads under a condition. */
export function allowIf(isAllowed: boolean, problem: string): CommandJudgement {
  return isAllowed ? { reads: NO_PATHS } : { reads: NO_PATHS, problem };
}

/** Judge printf: `-v` assigns and evaluates a subscript; `%n` assigns, too. */
export function judgePrintf(words: readonly ShellWord[]): CommandJudgement {
  const [format, ...operands] = words[0]?.literal === '--' ? words.slice(1) : words;
  if (!format) return { reads: NO_PATHS };
  const mayBeOption = format === words[0] && format.mayBeFlag && !/^-(?!v)/.test(format.literal ?? '');
  const mayCount =
    format.literal === undefined
      ? format.isSplit || operands.length > 0
      : /%[-+ #0'*.\d]*[hlqjztL]*n/.test(format.literal);
  return allowIf(!mayBeOption && !mayCount, 'printf may assign a variable');
}

/** `-a` and `-o` are binary as well, and `!` may precede an operator as well as an operand. */
const TEST_UNARY = /^-[b-np-zA-Z]$/;
const TEST_BINARY = /^(?:==?|!=|=~|[<>]|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;

/** Matches `-v` or `-R`, and globs that may match a file of that name. */
const MAY_BE_VARIABLE_TEST = /^-[vR]$|^(?:-?|-[vR])[*?[](?:.*[*?\]])?(?:-?[vR])?$/;

function isTestedPath(_: ShellWord, at: number, words: readonly ShellWord[]): boolean {
  const [before = '', after = ''] = [words[at - 1]?.literal, words[at + 1]?.literal];
  return FILE_UNARY.test(before) || FILE_BINARY.test(before) || FILE_BINARY.test(after);
}

/** Judge test: `-v` and `-R` evaluate a subscript; `<` and `>` are redirections and judged as such. */
export function judgeTest(words: readonly ShellWord[]): CommandJudgement {
  const mayEvaluate = words.some((word, at) => {
    if (word.literal !== undefined) return /^-[vR]$/.test(word.literal);
    if (word.isInteger) return false;
    // Unquoted text may contain `-v` and its operand.
    if (word.isSplit && word.patterns === undefined) return true;
    const mayBeOperator =
      word.patterns === undefined ? word.mayBeFlag : word.patterns.some((text) => MAY_BE_VARIABLE_TEST.test(text));
    const isOperand =
      TEST_UNARY.test(words[at - 1]?.literal ?? '') ||
      TEST_BINARY.test(words[at - 1]?.literal ?? '') ||
      TEST_BINARY.test(words[at + 1]?.literal ?? '');
    const isAlone = words.filter(({ literal }) => literal !== ']').length === 1;
    return mayBeOperator && (word.isSplit || (!isOperand && !isAlone));
  });
  return { ...allowIf(!mayEvaluate, 'test -v evaluates a subscript'), testedPaths: words.filter(isTestedPath) };
}

/** Judge read. Names are used as spelled: the assigned name is checked before any expansion. */
export function judgeRead(words: readonly ShellWord[]): CommandJudgement {
  const { operands, flags, problem } = parseArguments(words, {
    flags: flagTable('-rse -a= -d= -n= -N= -p= -t= -u='),
    stopsAtOperand: true,
  });
  const targets = [...operands, ...flags.filter(({ name }) => name === '-a').map(({ value }) => value)];
  const isPrivate = targets.every(
    (word) => isPrivateName(word?.text ?? '') || word?.text === '_' || word?.text === 'REPLY',
  );
  return problem === undefined
    ? allowIf(isPrivate, 'read may change what later words mean')
    : { problem, reads: NO_PATHS };
}

export function judgeMapfile(words: readonly ShellWord[]): CommandJudgement {
  // -C and -c run a command for each group of lines.
  const { operands, problem } = parseArguments(words, {
    flags: flagTable('-t -d= -n= -O= -s= -u='),
    stopsAtOperand: true,
  });
  const isPrivate = operands.length <= 1 && operands.every((word) => isPrivateName(word.text));
  return problem === undefined
    ? allowIf(isPrivate, 'mapfile may change what later words mean')
    : { problem, reads: NO_PATHS };
}

/** Judge set: -a exports assigned variables; -k and positional forms change how later words are parsed. */
export function judgeSet(words: readonly ShellWord[]): CommandJudgement {
  const text = words.map((word) => word.literal ?? '\0').join(' ');
  return allowIf(
    /^(?:(?:^| )(?:[-+][eufxCnbhmE]+|[-+][eufx]*o (?:pipefail|errexit|nounset|noglob|noclobber|xtrace)))*$/.test(text),
    'set may change how later words are read',
  );
}

export function judgeShopt(words: readonly ShellWord[]): CommandJudgement {
  const text = words.map((word) => word.literal ?? '\0').join(' ');
  return allowIf(
    /^-[su]q?(?: (?:nullglob|dotglob|globstar|failglob|nocaseglob|nocasematch|globasciiranges|lastpipe))+$/.test(text),
    'shopt may change how later words are read',
  );
}

/** Judge declare by its options and bare names; assignments among the words are judged separately. */
export function judgeDeclare(words: readonly ShellWord[]): CommandJudgement {
  if (words[0]?.literal === '-p')
    return allowIf(
      words.every((word) => /^[\w-]+$/.test(word.literal ?? '')),
      'declare may change what later words mean',
    );
  const isHarmless = words.every(
    (word) => /^-[aAr]+$/.test(word.literal ?? '') || word.literal === '--' || isPrivateName(word.text),
  );
  return allowIf(isHarmless, 'declare may change what later words mean');
}

/** Report whether a printf format pads to millions of characters: `%9999999d`, or `%*d` with such a number. */
export function isWidePadding([format = '', ...rest]: readonly string[]): boolean {
  return /%[-+ #0']*[\d.*]*\d{7}/.test(format) || (format.includes('*') && rest.some((text) => /^-?\d{7}/.test(text)));
}
