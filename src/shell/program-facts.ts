/** Questions about one program that many ask, answered by its record; its name may be any that its kind goes by. */
import { recordOf } from './programs/index.ts';

/** The dynamic loader, which runs the program it is given. */
const LOADER = /^ld[\w.-]*\.so(?:\.\d+)*$/;

const optionSets = new Map<string, ReadonlySet<string>>();

/** Tell whether this option of a program takes the next word for certain. */
export function takesNextWord(program: string, option: string): boolean {
  const line = recordOf(program)?.valueOptions;
  if (line === undefined) return false;
  let options = optionSets.get(line);
  if (!options) optionSets.set(line, (options = new Set(line.split(' '))));
  return options.has(option);
}

/** Tell whether the word behind an option is text for people. */
export function isMessage(program: string, option: string | undefined): boolean {
  return option !== undefined && recordOf(program)?.messageOptions?.test(option) === true;
}

/** Tell whether this is a shell. */
export function isShellName(program: string): boolean {
  return recordOf(program)?.language === 'shell';
}

/** Tell whether this program runs its input as a program, or a file that it is given. */
export function runsPrograms(program: string): boolean {
  return /^(?:shell|program)$/.test(recordOf(program)?.language ?? '');
}

/** Tell whether this program has a language of its own, in which a command is a word among others. */
export function isInterpreterName(program: string): boolean {
  return /^(?:program|text)$/.test(recordOf(program)?.language ?? '');
}

/** Tell whether every word of this program may be what it runs. */
export function isLauncherName(program: string): boolean {
  const record = recordOf(program);
  return record?.isLauncher === true || record?.language === 'shell' || LOADER.test(program);
}

/** Tell whether this program finds files, and may run another one for each. */
export function isFinderName(program: string): boolean {
  return recordOf(program)?.isFinder === true;
}

/** Tell whether this program makes arguments of its input. */
export function isSupplierName(program: string): boolean {
  return recordOf(program)?.isSupplier === true;
}
