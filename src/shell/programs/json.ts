/** jq and yq: programs that they are given may name further files. */
import { isEndlessFilter } from '../endless-program.ts';
import type { ParsedArguments } from '../flags.ts';
import type { ProgramSpec } from '../program-spec.ts';

/** The spec of jq. */
export const JQ: ProgramSpec = {
  flags:
    '-crjasneSCMR -f= -L= --arg== --argjson== --slurpfile== --rawfile== --args --jsonargs --tab --indent= --raw-output --raw-output0 --compact-output ' +
    '--null-input --slurp --raw-input --sort-keys --exit-status --color-output --monochrome-output --join-output --ascii-output --seq --stream --from-file=',
  isOpen: true,
  operands: 'pattern',
  patternFlags: ['-f', '--from-file'],
  pathFlags: ['-f', '--from-file', '--rawfile', '--slurpfile'],
  // A program in a file may import from anywhere, and so may any program with a search path.
  listFlags: ['-f', '--from-file', '-L'],
  check: (given) => mayImport(given) ?? mayRunOn(given),
};

/** The spec of yq. Neither -i nor -s: they write. */
export const YQ: ProgramSpec = {
  flags:
    '-rPCMNejcn -o= -p= -I= --output-format= --input-format= --prettyPrint --raw-output --no-doc --exit-status --null-input --unwrapScalar? --indent=',
  operands: 'paths',
  check: readsOtherFiles,
};

/** Modules are named at the start of a program, where only blanks and comments may stand before them. */
function mayImport({ operands: [program] }: ParsedArguments): string | undefined {
  const text = program?.literal ?? program?.prefix ?? '.';
  const isStart =
    /^\s*(?:import|include|module)\b/.test(text) || (/^\s*#/.test(text) && /\b(?:im|in|module)/.test(text));
  const isUnknown = program?.literal === undefined && /^[\s#a-z]*$/.test(text);
  return isStart || isUnknown || /\bmodulemeta\b/.test(program?.text ?? '') ? 'jq may read a module' : undefined;
}

function mayRunOn({ operands: [program] }: ParsedArguments): string | undefined {
  return isEndlessFilter(program?.literal ?? program?.text ?? '') ? 'jq may never end' : undefined;
}

/** Words of an expression that read a file or run a program; as the name of a field, or in a text, they do nothing. */
const YQ_ACTS = /(?<![.\w])(?:\w*load\w*|eval\w*|system|import|include|modulemeta)\b/;

/** The expression stands first, or behind the name of what is to be done with it; a file may stand in its place. */
function readsOtherFiles({ operands: [first, second] }: ParsedArguments): string | undefined {
  const expression = /^(?:e|ea|eval|eval-all)$/.test(first?.literal ?? '') ? second : first;
  const mayRead = expression && YQ_ACTS.test((expression.literal ?? 'load').replace(/"[^"\\]*"/g, '""'));
  if (mayRead) return 'yq may read another file or run a program';
  return isEndlessFilter(expression?.literal ?? '') ? 'yq may never end' : undefined;
}
