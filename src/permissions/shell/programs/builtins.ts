/** What bash itself does: builtins that change nothing but this shell, and in it nothing that re-aims later words. */
import { flagTable, parseArguments } from '../flags.ts';
import { type CommandJudgement, NO_PATHS, type ProgramSpec } from '../program-spec.ts';
import { FILE_BINARY, FILE_UNARY } from '../looked-for.ts';
import { isPrivateName } from '../variable-values.ts';
import type { ProgramRecord } from '../program-record.ts';
import type { ShellWord } from '../word.ts';

const HARMLESS: ProgramSpec = { judge: () => ({ reads: NO_PATHS }) };
const NO_ARGUMENTS: ProgramSpec = { judge: (words) => allowIf(words.length === 0, 'an argument may change the shell') };

/** Builtins, and what stands before a command like one. */
export const BUILTINS: readonly ProgramRecord[] = [
  { names: ': false echo', isBuiltin: true, reads: HARMLESS, isLookingOnly: true, isConstant: true },
  { names: 'true', isBuiltin: true, reads: HARMLESS, suggests: 'nothing', isLookingOnly: true, isConstant: true },
  { names: 'break continue exit return', isBuiltin: true, reads: HARMLESS },
  {
    names: 'kill',
    isGnu: true,
    isBuiltin: true,
    reads: { judge: (words) => allowIf(/^-[lL]$/.test(words[0]?.literal ?? ''), 'kill sends a signal') },
    warnings: [{ words: /^(?:.* )?-(?:9|KILL|SIGKILL)/, sentence: 'Ends processes without letting them finish' }],
    suggests: 'nothing',
  },
  {
    names: 'trap',
    isBuiltin: true,
    reads: {
      judge: ([first, ...names]) =>
        allowIf(
          /^-[lp]$/.test(first?.literal ?? '') && names.every(({ literal }) => /^[A-Z\d]+$/.test(literal ?? '')),
          'trap runs a command later',
        ),
    },
    isLauncher: true,
  },
  { names: 'hash alias', isBuiltin: true, reads: NO_ARGUMENTS, isLauncher: true },
  // What it sets is judged where it stands.
  {
    names: 'export',
    isBuiltin: true,
    reads: {
      judge: (words) =>
        allowIf(
          words.every((word) => word.literal === '-p'),
          'export may re-aim what follows',
        ),
    },
    suggests: 'nothing',
    isConstant: true,
  },
  {
    names: 'wait',
    isBuiltin: true,
    reads: {
      judge: (words) =>
        allowIf(
          words.every((word) => !word.mayBeFlag || /^-[nf]$/.test(word.literal ?? '')),
          'wait may assign a variable',
        ),
    },
  },
  { names: 'shift', isBuiltin: true, reads: HARMLESS, isConstant: true },
  { names: 'times', isBuiltin: true, reads: NO_ARGUMENTS, isConstant: true },
  { names: 'dirs', isBuiltin: true, reads: NO_ARGUMENTS },
  { names: 'pwd', isBuiltin: true, reads: { flags: '-LP', mostOperands: 0 }, isConstant: true },
  // -x runs its operands.
  { names: 'jobs', isBuiltin: true, reads: { flags: '-lpnrs' }, isConstant: true },
  {
    names: 'type',
    isBuiltin: true,
    reads: { flags: '-aftpP', isOpen: true, operands: 'names' },
    answers: { 1: 'not found' },
  },
  { names: 'help', isBuiltin: true, reads: { flags: '-dms', isOpen: true } },
  {
    names: 'cd',
    isBuiltin: true,
    reads: { flags: '-LPe', isOpen: true, operands: 'names', mostOperands: 1 },
    suggests: 'nothing',
  },
  { names: 'pushd', isBuiltin: true, reads: { flags: '-n', operands: 'names', mostOperands: 1 }, suggests: 'nothing' },
  { names: 'popd', isBuiltin: true, reads: { flags: '-n', mostOperands: 1 }, suggests: 'nothing' },
  {
    names: 'printf',
    isBuiltin: true,
    reads: { judge: judgePrintf },
    ends: (_, words) => !isWidePadding(words.map(({ literal }) => literal ?? '')),
    isLookingOnly: true,
    isConstant: true,
  },
  {
    names: 'test [',
    isBuiltin: true,
    reads: { judge: judgeTest },
    suggests: 'nothing',
    isLookingOnly: true,
    isConstant: true,
    answers: { 1: 'the condition is false' },
  },
  { names: 'read', isBuiltin: true, reads: { judge: judgeRead }, boundOption: /^-\w*[nN]/ },
  { names: 'mapfile readarray', isBuiltin: true, reads: { judge: judgeMapfile }, runsBehind: /^-C$/ },
  { names: 'set', isBuiltin: true, reads: { judge: judgeSet }, suggests: 'nothing', isConstant: true },
  { names: 'shopt', isBuiltin: true, reads: { judge: judgeShopt } },
  { names: 'declare', isBuiltin: true, reads: { judge: judgeDeclare }, suggests: 'nothing', isConstant: true },
  { names: 'typeset', isBuiltin: true, reads: { judge: judgeDeclare }, suggests: 'nothing' },
  { names: 'local', isBuiltin: true, reads: { judge: judgeDeclare }, isConstant: true },
  { names: 'readonly', isBuiltin: true, reads: { judge: judgeDeclare } },
  {
    names: 'history',
    isBuiltin: true,
    reads: {
      judge: (words) =>
        allowIf(
          words.every((word) => /^\d+$/.test(word.literal ?? '')),
          'history may write its file',
        ),
    },
  },
  {
    names: 'unset',
    isBuiltin: true,
    reads: {
      // Without -v it takes a function away where there is no variable of that name.
      judge: (words, { functions }) =>
        allowIf(
          words.every(({ literal = '' }) => literal === '-v' || (isPrivateName(literal) && !functions.has(literal))),
          'unset may re-aim what follows',
        ),
    },
    suggests: 'nothing',
    isConstant: true,
  },
  {
    names: 'umask',
    isBuiltin: true,
    reads: {
      judge: (words) =>
        allowIf(
          words.every((word) => /^-[Sp]$/.test(word.literal ?? '')),
          'umask changes the mask',
        ),
    },
  },
  {
    names: 'ulimit',
    isBuiltin: true,
    reads: {
      judge: (words) =>
        allowIf(
          words.every((word) => /^-[HSabcdefiklmnpqrstuvxPRT]+$/.test(word.literal ?? '')),
          'ulimit changes a limit',
        ),
    },
  },
  { names: 'command', isLauncher: true, wraps: { flags: '-p -v -V' } },
  { names: 'builtin', isLauncher: true, wraps: { flags: '' } },
  { names: 'exec coproc', isLauncher: true },
  { names: 'eval', isLauncher: true, warnings: [{ words: /./, sentence: 'Runs text as a script' }] },
  {
    names: 'source .',
    isLauncher: true,
    hiddenText: 'always',
    warnings: [{ words: /./, sentence: 'Runs text as a script' }],
  },
  { names: 'let', isConstant: true },
  { names: '[[', answers: { 1: 'the condition is false' } },
];

function allowIf(isAllowed: boolean, problem: string): CommandJudgement {
  return isAllowed ? { reads: NO_PATHS } : { reads: NO_PATHS, problem };
}

/** `-v` assigns, and evaluates a subscript on the way; `%n` assigns too. */
function judgePrintf(words: readonly ShellWord[]): CommandJudgement {
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
function judgeTest(words: readonly ShellWord[]): CommandJudgement {
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
function judgeRead(words: readonly ShellWord[]): CommandJudgement {
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

function judgeMapfile(words: readonly ShellWord[]): CommandJudgement {
  // -C and -c run a command as they read.
  const { operands, problem } = parseArguments(words, {
    flags: flagTable('-t -d= -n= -O= -s= -u='),
    stopsAtOperand: true,
  });
  const isPrivate = operands.length <= 1 && operands.every((word) => isPrivateName(word.text));
  return problem === undefined ? allowIf(isPrivate, 'mapfile may re-aim what follows') : { problem, reads: NO_PATHS };
}

/** -a exports what is assigned, -k and the positional forms change how later words are read. */
function judgeSet(words: readonly ShellWord[]): CommandJudgement {
  const text = words.map((word) => word.literal ?? '\0').join(' ');
  return allowIf(
    /^(?:(?:^| )(?:[-+][eufxCnbhmE]+|[-+][eufx]*o (?:pipefail|errexit|nounset|noglob|noclobber|xtrace)))*$/.test(text),
    'set may change how later words are read',
  );
}

function judgeShopt(words: readonly ShellWord[]): CommandJudgement {
  const text = words.map((word) => word.literal ?? '\0').join(' ');
  return allowIf(
    /^-[su]q?(?: (?:nullglob|dotglob|globstar|failglob|nocaseglob|nocasematch|globasciiranges|lastpipe))+$/.test(text),
    'shopt may change how later words are read',
  );
}

/** Assignments among the words are judged where they stand; here are options and bare names. */
function judgeDeclare(words: readonly ShellWord[]): CommandJudgement {
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
function isWidePadding([format = '', ...rest]: readonly string[]): boolean {
  return /%[-+ #0']*[\d.*]*\d{7}/.test(format) || (format.includes('*') && rest.some((text) => /^-?\d{7}/.test(text)));
}
