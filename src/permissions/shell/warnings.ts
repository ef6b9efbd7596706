/** What makes a command line dangerous, one sentence each, for the person who is asked. */
import { runsPrograms } from './program-facts.ts';
import { recordOf } from './programs/index.ts';
import type { ReachedCommand, ReachedScript } from './reach.ts';

/** All warnings for a command line, each once. */
export function commandWarnings(command: string, { commands }: ReachedScript): readonly string[] {
  const found = new Set<string>();
  for (const { texts } of commands.flatMap(({ readings }) => readings)) {
    for (const text of texts) for (const sentence of warningsOf(text)) found.add(sentence);
  }
  if (runsDownload(commands)) found.add('Runs what it downloads');
  if (/>\s*\/dev\/(?:sd|nvme|hd|vd|disk|mmcblk)/.test(command)) found.add('Overwrites a disk');
  if (/:\s*\(\)\s*\{.*:\s*\|\s*:/.test(command)) found.add('Starts processes without end');
  return [...found];
}

/** @param text One command that may run, its words joined by blanks. */
function warningsOf(text: string): readonly string[] {
  const [program = '', rest = ''] = text.split(/ (.*)/s);
  const { warnings = [] } = recordOf(program) ?? {};
  return warnings.flatMap(({ words, sentence }) => (words.test(rest) ? [sentence] : []));
}

/** Whether one command downloads and another one runs text: `curl x | sudo ash`, `wget x -O y; python3.11 y`. */
function runsDownload(commands: readonly ReachedCommand[]): boolean {
  const programs = commands.map(({ readings }) =>
    readings.flatMap(({ launched }) => launched.commands.map(([program = '']) => program)),
  );
  const download = programs.findIndex((names) => names.some((name) => recordOf(name)?.isDownloader === true));
  const isRunning = (name: string) =>
    runsPrograms(name) || recordOf(name)?.isRaisingRights === true || /^(?:eval|source|\.)$/.test(name);
  return download >= 0 && programs.some((names, at) => at !== download && names.some(isRunning));
}
