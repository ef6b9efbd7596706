/** Every script of a run by its number: grown, pieced together, or a known command line changed. */
import { labelledCommands } from '../../src/shell/labelled-commands.ts';
import { framedPieces, mutated, piecesInARow } from './mutations.ts';
import { ACTS } from './payloads.ts';
import { seededRandom } from './random.ts';
import { growScript, type GrownScript } from './script-grammar.ts';

/** Reading commands that wait, or do not end by themselves. */
const ENDLESS =
  /sleep|tail -[a-zA-Z]*[fF]|--follow|top|stat \d|yes|man |until|while|wait|watch|journalctl|dmesg -w|lsof|find \/|\/proc|-R \/|du /;

/** What waits wherever it stands. */
const WAITING = /sleep|tail -[a-zA-Z]*[fF]|--follow|\btop\b|\byes\b|watch|journalctl|-R \//;

/** Acting commands that could reach beyond their folder, run uncontained. */
const FAR =
  /(?:^|[\s=:'"])(?:\/|~)|\.\.|kill|reboot|shutdown|halt|poweroff|init|mount|sysctl|date -s|hostname|ip |systemctl|docker|:\(\)/;

/** Slow to start, and some keep notes in the home folder when asked for their version. */
const TOOLCHAINS =
  /\b(?:node|npm|npx|pnpm|yarn|bun|deno|java|javac|mvn|gradle|go|cargo|rustc|rustup|python3?|pip3?|ruby|gem|bundle|php|perl|tsc|jest|eslint|vitest|docker|kubectl|gh|make|cmake|gcc|uv|poetry)\b/;

/** Scripts by number. */
export type ScriptSource = (number: number) => GrownScript;

/**
 * The scripts of one seed.
 *
 * @param isContained Nothing they do reaches beyond their folder: acting commands are among the lines that are changed.
 */
export function scriptSource(seed: number, isContained: boolean): ScriptSource {
  const reading = [...labelledCommands('read-only').values()].flat().filter((line) => !ENDLESS.test(line));
  const acting = isContained ? [...labelledCommands('not-read-only').values()].flat() : [];
  const lines = [...reading, ...reading, ...acting].filter(
    (line) => ![ENDLESS, FAR, TOOLCHAINS].some((unfit) => unfit.test(line)),
  );
  return (number) => {
    const random = seededRandom(Math.imul(seed, 0x9e3779b1) + number);
    const kind = random.below(10);
    if (kind < 2) return growScript(random);
    const text =
      kind < 7 ? framedPieces(random) : kind < 8 ? piecesInARow(random) : mutated(random.pick(lines), lines, random);
    return { text, act: ACTS.test(text) ? 'unsure' : 'none' };
  };
}

/** Whether a script may be run: a function that calls itself without end would only cost time. */
export function mayRun(text: string): boolean {
  if (WAITING.test(text)) return false;
  for (const [, name = ''] of text.matchAll(/([\w.:-]+)(?:\s|\\\n)*\((?:\s|\\\n)*\)|function\s+([\w.:-]+)/g))
    if (name !== '' && text.split(name).length > 3) return false;
  return true;
}
