/** Builtins of bash. They are read-only if they change this shell alone, and not the meaning of later words. */
import { NO_PATHS, type ProgramSpec } from '../program-spec.ts';
import { isPrivateName } from '../variable-values.ts';
import type { ProgramRecord } from '../program-record.ts';
import {
  allowIf,
  isWidePadding,
  judgeDeclare,
  judgeMapfile,
  judgePrintf,
  judgeRead,
  judgeSet,
  judgeShopt,
  judgeTest,
} from './builtin-words.ts';

const HARMLESS: ProgramSpec = { judge: () => ({ reads: NO_PATHS }) };
const NO_ARGUMENTS: ProgramSpec = { judge: (words) => allowIf(words.length === 0, 'an argument may change the shell') };

/** Builtins, and keywords with the syntax of a command. */
export const BUILTINS: readonly ProgramRecord[] = [
  { names: ': false echo', isBuiltin: true, reads: HARMLESS, isMetadataOnly: true, isConstant: true },
  { names: 'true', isBuiltin: true, reads: HARMLESS, suggests: 'nothing', isMetadataOnly: true, isConstant: true },
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
    isJoiner: true,
  },
  { names: 'hash alias', isBuiltin: true, reads: NO_ARGUMENTS, isLauncher: true },
  // Assignments among its words are judged separately.
  {
    names: 'export',
    isBuiltin: true,
    reads: {
      judge: (words) =>
        allowIf(
          words.every((word) => word.literal === '-p'),
          'export may change what later words mean',
        ),
    },
    suggests: 'nothing',
    isConstant: true,
    isEvaluating: true,
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
  { names: 'pwd', isBuiltin: true, reads: { flags: '-LP', maxOperands: 0 }, isConstant: true },
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
    reads: { flags: '-LPe', isOpen: true, operands: 'names', maxOperands: 1 },
    suggests: 'nothing',
    isDirectoryChanger: true,
  },
  {
    names: 'pushd',
    isBuiltin: true,
    reads: { flags: '-n', operands: 'names', maxOperands: 1 },
    suggests: 'nothing',
    isDirectoryChanger: true,
  },
  {
    names: 'popd',
    isBuiltin: true,
    reads: { flags: '-n', maxOperands: 1 },
    suggests: 'nothing',
    isDirectoryChanger: true,
  },
  {
    names: 'printf',
    isBuiltin: true,
    reads: { judge: judgePrintf },
    ends: (_, words) => !isWidePadding(words.map(({ literal }) => literal ?? '')),
    isMetadataOnly: true,
    isConstant: true,
    isAssigning: true,
    isEvaluating: true,
  },
  {
    names: 'test [',
    isBuiltin: true,
    reads: { judge: judgeTest },
    suggests: 'nothing',
    isMetadataOnly: true,
    isConstant: true,
    answers: { 1: 'the condition is false' },
    isEvaluating: true,
  },
  {
    names: 'read',
    isBuiltin: true,
    reads: { judge: judgeRead },
    boundOption: /^-\w*[nN]/,
    isAssigning: true,
    isEvaluating: true,
  },
  {
    names: 'mapfile readarray',
    isBuiltin: true,
    reads: { judge: judgeMapfile },
    runsBehind: /^-C$/,
    isAssigning: true,
    isEvaluating: true,
  },
  { names: 'set', isBuiltin: true, reads: { judge: judgeSet }, suggests: 'nothing', isConstant: true },
  { names: 'shopt', isBuiltin: true, reads: { judge: judgeShopt } },
  {
    names: 'declare',
    isBuiltin: true,
    reads: { judge: judgeDeclare },
    suggests: 'nothing',
    isConstant: true,
    isDeclaring: true,
    isEvaluating: true,
  },
  {
    names: 'typeset',
    isBuiltin: true,
    reads: { judge: judgeDeclare },
    suggests: 'nothing',
    isDeclaring: true,
    isEvaluating: true,
  },
  {
    names: 'local',
    isBuiltin: true,
    reads: { judge: judgeDeclare },
    isConstant: true,
    isDeclaring: true,
    isEvaluating: true,
  },
  { names: 'readonly', isBuiltin: true, reads: { judge: judgeDeclare }, isDeclaring: true, isEvaluating: true },
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
      // Without -v it removes a function if no variable has that name.
      judge: (words, { functions }) =>
        allowIf(
          words.every(({ literal = '' }) => literal === '-v' || (isPrivateName(literal) && !functions.has(literal))),
          'unset may change what later words mean',
        ),
    },
    suggests: 'nothing',
    isConstant: true,
    isEvaluating: true,
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
  { names: 'command', isLauncher: true, wraps: { flags: '-p -v -V' }, isAssigning: true },
  { names: 'builtin', isLauncher: true, wraps: { flags: '' }, isAssigning: true },
  { names: 'exec', isBuiltin: true, isLauncher: true },
  {
    names: 'eval',
    isBuiltin: true,
    isLauncher: true,
    warnings: [{ words: /./, sentence: 'Runs text as a script' }],
    isJoiner: true,
  },
  { names: 'coproc', isLauncher: true },
  {
    names: 'source',
    isBuiltin: true,
    isLauncher: true,
    hiddenText: 'always',
    warnings: [{ words: /./, sentence: 'Runs text as a script' }],
    isShellFeeder: true,
  },
  {
    names: '.',
    isLauncher: true,
    hiddenText: 'always',
    warnings: [{ words: /./, sentence: 'Runs text as a script' }],
    isShellFeeder: true,
  },
  { names: 'let', isBuiltin: true, isConstant: true, isEvaluating: true },
  { names: '[[', answers: { 1: 'the condition is false' } },
  { names: 'enable bind caller compgen complete compopt disown fc bg fg logout suspend', isBuiltin: true },
  { names: 'getopts', isBuiltin: true, isAssigning: true },
  { names: '((', isEvaluating: true },
];
