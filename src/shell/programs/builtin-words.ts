/** Builtins of bash whose words no table of options describes. */
import { flagTable, parseArguments } from '../flags.ts';
import { type CommandJudgement, NO_PATHS } from '../program-spec.ts';
import { FILE_BINARY, FILE_UNARY } from '../looked-for.ts';
import { isPrivateName } from '../variable-values.ts';
import type { ShellWord } from '../word.ts';

/** Judge a builtin that only reads under a condition. */
export function allowIf(isAllowed: boolean, problem: string): CommandJudgement {
  return isAllowed ? { reads: NO_PATHS } : { reads: NO_PATHS, problem };
}

/** `-v` assigns, and evaluates a subscript on the way; `%n` assigns too. */
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

/** `-a` and `-o` join as well, and `!` stands before an operator as well as before an operand. */
const TEST_UNARY = /^-[b-np-zA-Z]$/;
const TEST_BINARY = /^(?:==?|!=|=~|[<>]|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;

/** `-v` or `-R`, or a glob that finds a file of that name: its start and its end are those of `-v`. */
const MAY_BE_VARIABLE_TEST = /^-[vR]$|^(?:-?|-[vR])[*?[](?:.*[*?\]])?(?:-?[vR])?$/;

function isLookedFor(_: ShellWord, at: number, words: readonly ShellWord[]): boolean {
  const [before = '', after = ''] = [words[at - 1]?.literal, words[at + 1]?.literal];
  return FILE_UNARY.test(before) || FILE_BINARY.test(before) || FILE_BINARY.test(after);
}

/** `-v` and `-R` evaluate a subscript; `<` and `>` are redirections, which are judged as such. */
export function judgeTest(words: readonly ShellWord[]): CommandJudgement {
  const mayEvaluate = words.some((word, at) => {
    if (word.literal !== undefined) return /^-[vR]$/.test(word.literal);
    if (word.isInteger) return false;
    // Unquoted text of any kind could bring `-v` and its operand along.
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
  return { ...allowIf(!mayEvaluate, 'test -v evaluates a subscript'), looksFor: words.filter(isLookedFor) };
}

/** Names count as spelled: what is assigned is looked for before anything is expanded. */
export function judgeRead(words: readonly ShellWord[]): CommandJudgement {
  const { operands, flags, problem } = parseArguments(words, {
    flags: flagTable('-rse -a= -d= -n= -N= -p= -t= -u='),
    stopsAtOperand: true,
  });
  const targets = [...operands, ...flags.filter(({ name }) => name === '-a').map(({ value }) => value)];
  const isPrivate = targets.every(
    (word) => isPrivateName(word?.text ?? '') || word?.text === '_' || word?.text === 'REPLY',
  );
  return problem === undefined ? allowIf(isPrivate, 'read may re-aim what follows') : { problem, reads: NO_PATHS };
}

export function judgeMapfile(words: readonly ShellWord[]): CommandJudgement {
  // -C and -c run a command as they read.
  const { operands, problem } = parseArguments(words, {
    flags: flagTable('-t -d= -n= -O= -s= -u='),
    stopsAtOperand: true,
  });
  const isPrivate = operands.length <= 1 && operands.every((word) => isPrivateName(word.text));
  return problem === undefined ? allowIf(isPrivate, 'mapfile may re-aim what follows') : { problem, reads: NO_PATHS };
}

/** -a exports what is assigned, -k and the positional forms change how later words are read. */
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

/** Assignments among the words are judged where they stand; here are options and bare names. */
export function judgeDeclare(words: readonly ShellWord[]): CommandJudgement {
  if (words[0]?.literal === '-p')
    return allowIf(
      words.every((word) => /^[\w-]+$/.test(word.literal ?? '')),
      'declare may re-aim what follows',
    );
  const isHarmless = words.every(
    (word) => /^-[aAr]+$/.test(word.literal ?? '') || word.literal === '--' || isPrivateName(word.text),
  );
  return allowIf(isHarmless, 'declare may re-aim what follows');
}

/** `printf %9999999d`, and `%*d` with a number like that. */
export function isWidePadding([format = '', ...rest]: readonly string[]): boolean {
  return /%[-+ #0']*[\d.*]*\d{7}/.test(format) || (format.includes('*') && rest.some((text) => /^-?\d{7}/.test(text)));
}
