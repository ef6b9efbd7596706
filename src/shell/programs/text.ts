/** Programs that transform or show text, or calculate. */
import { isEndlessFilter } from '../endless-program.ts';
import { isGiven, type ParsedArguments } from '../flags.ts';
import type { ProgramRecord } from '../program-record.ts';
import { NO_PATHS, type ProgramSpec } from '../program-spec.ts';
import { AWK } from './awk.ts';
import { SED } from './sed.ts';

/** The spec of jq. */
const JQ: ProgramSpec = {
  flags:
    '-crjasneSCMR -f= -L= --arg== --argjson== --slurpfile== --rawfile== --args --jsonargs --tab --indent= --raw-output --raw-output0 --compact-output ' +
    '--null-input --slurp --raw-input --sort-keys --exit-status --color-output --monochrome-output --join-output --ascii-output --seq --stream --from-file=',
  isOpen: true,
  operands: 'pattern',
  patternFlags: ['-f', '--from-file'],
  pathFlags: ['-f', '--from-file', '--rawfile', '--slurpfile'],
  // A program in a file may import from anywhere, and so may any program with a search path.
  listFlags: ['-f', '--from-file', '-L'],
  check: (given) => mayImport(given) ?? mayNeverEnd(given),
};

/** The spec of yq. -i and -s are excluded because they write. */
const YQ: ProgramSpec = {
  flags:
    '-rPCMNejcn -o= -p= -I= --output-format= --input-format= --prettyPrint --raw-output --no-doc --exit-status --null-input --unwrapScalar? --indent=',
  operands: 'paths',
  check: readsOtherFiles,
};

/** Words of an expression that read a file or run a program; as a field name or in a string they do nothing. */
const YQ_SIDE_EFFECT = /(?<![.\w])(?:\w*load\w*|eval\w*|system|import|include|modulemeta)\b/;

/** tee with no file except the null device only passes text on. */
const TEE: ProgramSpec = {
  flags: '-aip --append --ignore-interrupts --output-error?',
  check: ({ operands }) => (operands.every((word) => word.literal === '/dev/null') ? undefined : 'tee writes files'),
};

const IN_PLACE = /^-[a-zA-Z]*i|^--in-?place/;

/** Longest number that is factored quickly. */
const MAX_FACTORED_DIGITS = 24;

/** Programs about text. */
export const TEXT: readonly ProgramRecord[] = [
  {
    names: 'cat',
    isGnu: true,
    reads: {
      flags:
        '-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting',
      isOpen: true,
      operands: 'paths',
    },
    isStream: true,
    filtersLines: { flags: '-u', operands: 0 },
  },
  {
    names: 'tac',
    isGnu: true,
    reads: { flags: '-br -s= --before --regex --separator=', isOpen: true, operands: 'paths' },
    filtersLines: { flags: '', operands: 0 },
  },
  { names: 'rev', reads: { flags: '-0hV --zero', isOpen: true, operands: 'paths' }, isStream: true },
  {
    names: 'nl',
    isGnu: true,
    reads: {
      flags:
        '-p -b= -d= -f= -h= -i= -l= -n= -s= -v= -w= --body-numbering= --number-format= --number-separator= --number-width= --starting-line-number= --line-increment=',
      isOpen: true,
      operands: 'paths',
    },
    isStream: true,
  },
  {
    names: 'head',
    isGnu: true,
    reads: {
      flags: '-qvz -c= -n= --bytes= --lines= --quiet --silent --verbose --zero-terminated',
      isOpen: true,
      hasNumbers: true,
      operands: 'paths',
    },
    boundOption: /^(?:-\w*c|--bytes)/,
    filtersLines: { flags: '-z -n= --lines=', operands: 0 },
  },
  {
    names: 'tail',
    isGnu: true,
    reads: {
      flags:
        '-fFqvzr -c= -n= -s= --follow? --bytes= --lines= --pid= --quiet --silent --verbose --retry --sleep-interval= --max-unchanged-stats= --zero-terminated',
      isOpen: true,
      hasNumbers: true,
      operands: 'paths',
    },
    ends: ({ flags }) => !flags.some(({ name }) => /^(?:-[fF]|--follow|--retry)$/.test(name)),
    filtersLines: { flags: '-z -n= --lines=', operands: 0 },
    restartable: /^(?:.* )?(?:-\w*[fF]|--follow)/,
  },
  {
    names: 'wc',
    isGnu: true,
    reads: {
      flags: '-clLmw --bytes --chars --lines --words --max-line-length --files0-from= --total=',
      isOpen: true,
      operands: 'paths',
      pathFlags: ['--files0-from'],
      listFlags: ['--files0-from'],
    },
  },
  {
    names: 'cut',
    isGnu: true,
    reads: {
      flags:
        '-nsz -b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --only-delimited --complement --output-delimiter= --zero-terminated',
      isOpen: true,
      operands: 'paths',
    },
    isStream: true,
  },
  {
    names: 'paste',
    isGnu: true,
    reads: { flags: '-sz -d= --delimiters= --serial --zero-terminated', isOpen: true, operands: 'paths' },
  },
  {
    names: 'tr',
    isGnu: true,
    reads: { flags: '-cCdst --complement --delete --squeeze-repeats --truncate-set1', isOpen: true },
    isStream: true,
  },
  // -o, -T and --compress-program are excluded because they write and run programs.
  {
    names: 'sort',
    isGnu: true,
    reads: {
      flags:
        '-bcCdfghiMmnRrsuVz -k= -t= -S= --key= --field-separator= --buffer-size= --parallel= --batch-size= --check? ' +
        '--ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --ignore-nonprinting ' +
        '--month-sort --numeric-sort --random-sort --reverse --sort= --version-sort --merge --stable --unique --zero-terminated --debug --files0-from= --random-source=',
      operands: 'paths',
      pathFlags: ['--files0-from', '--random-source'],
      listFlags: ['--files0-from'],
    },
    runsBehind: /^--compress-program$/,
    boundOption: /^--random-source/,
    filtersLines: {
      flags: '-bdfghiMnRrsuVz -k= -t= --reverse --unique --numeric-sort --version-sort --zero-terminated',
      operands: 0,
    },
  },
  // A second operand is the output file.
  {
    names: 'uniq',
    isGnu: true,
    reads: {
      flags:
        '-cdDiuz -f= -s= -w= --count --repeated --all-repeated? --group? --ignore-case --unique --skip-fields= --skip-chars= --check-chars= --zero-terminated',
      operands: 'paths',
      maxOperands: 1,
    },
    writesOperands: 'last',
    readsOperands: 'others',
    filtersLines: { flags: '-duiz --repeated --unique --ignore-case', operands: 0 },
  },
  {
    names: 'join',
    isGnu: true,
    reads: {
      flags:
        '-iz -a= -e= -1= -2= -j= -o= -t= -v= --ignore-case --check-order --nocheck-order --header --zero-terminated',
      isOpen: true,
      operands: 'paths',
    },
  },
  {
    names: 'fold',
    isGnu: true,
    reads: { flags: '-bs -w= --bytes --spaces --width=', isOpen: true, hasNumbers: true, operands: 'paths' },
    isStream: true,
  },
  {
    names: 'fmt',
    isGnu: true,
    reads: {
      flags: '-cstu -w= -p= -g= --width= --split-only --uniform-spacing --prefix= --goal=',
      isOpen: true,
      hasNumbers: true,
      operands: 'paths',
    },
  },
  {
    names: 'pr',
    isGnu: true,
    reads: {
      flags: '-adfFJmrtTv -D= -e? -h= -i? -l= -n? -N= -o= -s? -S? -w= -W=',
      hasNumbers: true,
      operands: 'paths',
    },
  },
  { names: 'expand', isGnu: true, reads: { flags: '-i -t= --initial --tabs=', isOpen: true, operands: 'paths' } },
  {
    names: 'unexpand',
    isGnu: true,
    reads: { flags: '-a -t= --all --first-only --tabs=', isOpen: true, operands: 'paths' },
  },
  {
    names: 'column',
    reads: {
      flags:
        '-txeLJ -s= -o= -c= -N= -R= -T= -E= -H= -O= -n= -l= -W= -r= -i= -p= --table --separator= --output-separator= --output-width= --table-columns= --table-right= --table-truncate= --table-hide= --table-order= --table-name= --json --fillrows --keep-empty-lines --table-noheadings --table-columns-limit=',
      isOpen: true,
      operands: 'paths',
    },
  },
  {
    names: 'seq',
    isGnu: true,
    reads: { flags: '-w -f= -s= --format= --separator= --equal-width', isOpen: true, hasNumbers: true },
    ends: (_, words) => words.every(({ literal }) => !/inf|nan|e\+?\d|\d{10}/i.test(literal ?? '')),
    isEndedByReader: true,
  },
  {
    names: 'shuf',
    isGnu: true,
    reads: {
      flags: '-erz -i= -n= --echo --input-range= --head-count= --repeat --zero-terminated --random-source=',
      operands: 'paths',
      pathFlags: ['--random-source'],
    },
    ends: ({ flags }) => !isGiven(flags, '-r', '--repeat') || isGiven(flags, '-n', '--head-count'),
    isEndedByReader: true,
    boundOption: /^--random-source/,
    filtersLines: { flags: '-z -n= --head-count=', operands: 0 },
  },
  {
    names: 'numfmt',
    isGnu: true,
    reads: {
      flags:
        '-dz --to= --from= --field= --suffix= --padding= --format= --grouping --header? --delimiter= --invalid= --round= --to-unit= --from-unit=',
      isOpen: true,
      hasNumbers: true,
    },
  },
  {
    names: 'factor',
    isGnu: true,
    reads: { isOpen: true },
    ends: (_, words) => words.every(({ literal }) => (literal?.length ?? 0) <= MAX_FACTORED_DIGITS),
  },
  { names: 'tsort', isGnu: true, reads: { isOpen: true, operands: 'paths' } },
  { names: 'iconv', reads: { flags: '-lcs -f= -t= --from-code= --to-code= --list --silent', operands: 'paths' } },
  { names: 'jq', reads: JQ },
  { names: 'yq', reads: YQ, changesInPlace: IN_PLACE },
  {
    names: 'expr',
    reads: {
      judge: (words) => ({ reads: NO_PATHS, ...(words.length === 0 && { problem: 'expr lacks an expression' }) }),
    },
    isCoveredWhole: true,
  },
  { names: 'bc', reads: { flags: '-lqsw --mathlib --quiet --standard --warn', isOpen: true, operands: 'paths' } },
  { names: 'yes', reads: { isOpen: true }, ends: () => false, isEndedByReader: true },
  { names: 'patch', reads: { alone: '--version -v' }, writesOperands: 'all', hasReadOptions: true },
  {
    names: 'sed',
    aliases: 'gsed',
    isGnu: true,
    reads: SED,
    language: 'text',
    hiddenText: [
      // `e` runs commands from the input.
      { words: /^\d*\$?!?e$|[^\w\s\\][gpiIm0-9]*e[gpiIm0-9]*\s*(?:[;}\n]|$)/ },
      { words: /^(?:-[nErsuz]*f|--f)/ },
    ],
    actingOptions: /^(?:-[nErsuz]*[if].*|-[a-zA-Z]*i.*|--i.*|--f(?!o).*)$/,
    changesInPlace: IN_PLACE,
    isStream: true,
  },
  {
    names: 'awk',
    aliases: 'gawk mawk nawk',
    reads: AWK,
    language: 'text',
    hiddenText: [{ words: /^(?:-[fEil]|--(?:f|i|l|e))/ }],
    actingOptions: /^(?:-[EWdfilop].*|-D.*|--(?:d|ex|f(?!ie)|i|lo|pr).*)$/,
    changesInPlace: IN_PLACE,
  },
  { names: 'tee', isGnu: true, reads: TEE, actingOptions: /^$/, writesOperands: 'all', suggests: 'nothing' },
  { names: 'split', isGnu: true, runsBehind: /^--filter$/, writesOperands: 'all', readsOperands: 'all' },
  { names: 'csplit', isGnu: true, writesOperands: 'all', readsOperands: 'all' },
  { names: 'sponge dos2unix unix2dos', writesOperands: 'all' },
];

/** Reject module imports, which occur at the start of a program after blanks and comments only. */
function mayImport({ operands: [program] }: ParsedArguments): string | undefined {
  const text = program?.literal ?? program?.prefix ?? '.';
  const isStart =
    /^\s*(?:import|include|module)\b/.test(text) || (/^\s*#/.test(text) && /\b(?:im|in|module)/.test(text));
  const isUnknown = program?.literal === undefined && /^[\s#a-z]*$/.test(text);
  return isStart || isUnknown || /\bmodulemeta\b/.test(program?.text ?? '') ? 'jq may read a module' : undefined;
}

function mayNeverEnd({ operands: [program] }: ParsedArguments): string | undefined {
  return isEndlessFilter(program?.literal ?? program?.text ?? '') ? 'jq may never end' : undefined;
}

/**
 * Reject expressions that read other files. The expression comes first, or after the name of the command; a file may
 * take its place.
 */
function readsOtherFiles({ operands: [first, second] }: ParsedArguments): string | undefined {
  const expression = /^(?:e|ea|eval|eval-all)$/.test(first?.literal ?? '') ? second : first;
  const mayRead = expression && YQ_SIDE_EFFECT.test((expression.literal ?? 'load').replace(/"[^"\\]*"/g, '""'));
  if (mayRead) return 'yq may read another file or run a program';
  return isEndlessFilter(expression?.literal ?? '') ? 'yq may never end' : undefined;
}
