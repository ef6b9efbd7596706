/** What a command may run, in each way its words can be read; worked out once a command, for all rules. */
import { type LaunchedCommands, launchedCommands } from './launchers.ts';
import { openTexts } from './open-word.ts';
import type { AnalysedCommand } from './script-walk.ts';
import { collapseBlanks } from './shell-specs.ts';
import { spellings } from './spellings.ts';
import type { ShellWord } from './word.ts';

/** One way to read a command. */
export interface Reading extends LaunchedCommands {
  /** Its words, and those of what it launches, as rules may spell them. */
  readonly texts: readonly string[];
}

/** Ways to read the commands of one line. */
export interface Readings {
  /** A word that is a variable with known values stands for each of them. */
  plain(part: AnalysedCommand): readonly Reading[];
  /** What is not written out may be anything; none where all is, and where it only reads: that hides no option. */
  open(part: AnalysedCommand): readonly Reading[];
}

/** Read commands when first asked, and remember. */
export function createReadings(): Readings {
  const known = new Map<AnalysedCommand, readonly Reading[]>();
  const unknown = new Map<AnalysedCommand, readonly Reading[]>();
  const plain = (part: AnalysedCommand) => remembered(known, part, () => read(part, knownTexts));
  return {
    plain,
    open: (part) =>
      remembered(unknown, part, () => {
        if (part.problem === undefined) return [];
        const isOpen = part.words.some(({ literal }) => literal === undefined);
        return isOpen
          ? read(part, (word) => word.roots ?? openTexts(word))
          : plain(part).filter(({ scripts }) => scripts.length > 0);
      }),
  };
}

function remembered(
  known: Map<AnalysedCommand, readonly Reading[]>,
  part: AnalysedCommand,
  make: () => readonly Reading[],
): readonly Reading[] {
  let readings = known.get(part);
  if (!readings) known.set(part, (readings = make()));
  return readings;
}

function knownTexts({ patterns, roots, guesses, text }: ShellWord): readonly string[] {
  return patterns ?? roots ?? guesses ?? [text];
}

function read(
  { words, problem }: AnalysedCommand,
  textsOf: (word: ShellWord) => readonly string[],
): readonly Reading[] {
  const values = words.map((word) => (word.literal === undefined ? textsOf(word) : [word.literal]));
  const most = Math.max(...values.map(({ length }) => length));
  return Array.from({ length: most }, (_, at) => {
    const launched = launchedCommands(
      values.map((texts) => texts[at % texts.length] ?? ''),
      problem !== undefined,
    );
    const texts = launched.commands.flatMap(spellings).map((command) => collapseBlanks(command.join(' ')));
    return { ...launched, texts };
  });
}
