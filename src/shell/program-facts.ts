/** Frequent queries on program records; the name may be any of the program's names. */
import { recordOf } from './programs/index.ts';

/** The dynamic loader, which runs the program given to it. */
const LOADER = /^ld[\w.-]*\.so(?:\.\d+)*$/;

const optionSets = new Map<string, ReadonlySet<string>>();

/** Report whether this option of a program always takes the next word. */
export function takesNextWord(program: string, option: string): boolean {
  const line = recordOf(program)?.valueOptions;
  if (line === undefined) return false;
  let options = optionSets.get(line);
  if (!options) optionSets.set(line, (options = new Set(line.split(' '))));
  return options.has(option);
}

/** Report whether the word after an option is text for people. */
export function isMessage(program: string, option: string | undefined): boolean {
  return option !== undefined && recordOf(program)?.messageOptions?.test(option) === true;
}

/** Report whether this program is a shell. */
export function isShellName(program: string): boolean {
  return recordOf(program)?.language === 'shell';
}

/** Report whether this program executes its input, or a file, as a program. */
export function runsPrograms(program: string): boolean {
  return /^(?:shell|program)$/.test(recordOf(program)?.language ?? '');
}

/** Report whether this program has a language of its own, in which commands are embedded words. */
export function isInterpreterName(program: string): boolean {
  return /^(?:program|text)$/.test(recordOf(program)?.language ?? '');
}

/** Report whether any word of this program may be the program it runs. */
export function isLauncherName(program: string): boolean {
  const record = recordOf(program);
  return record?.isLauncher === true || record?.language === 'shell' || LOADER.test(program);
}

/** Report whether this program finds files, and may run another one for each. */
export function isFinderName(program: string): boolean {
  return recordOf(program)?.isFinder === true;
}

/** Report whether this program turns its input into arguments. */
export function isSupplierName(program: string): boolean {
  return recordOf(program)?.isSupplier === true;
}
