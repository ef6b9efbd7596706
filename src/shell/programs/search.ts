/** Programs that search files and compare them. */
import type { ParsedArguments } from '../flags.ts';
import { grepNames, rgNames } from '../included-names.ts';
import type { ProgramRecord } from '../program-record.ts';
import type { ProgramSpec } from '../program-spec.ts';
import { FIND } from './find.ts';

const GREP: ProgramSpec = {
  flags:
    '-EFGPabchHiIlLnoqrRsTUvVwxyzZ -A= -B= -C= -D= -d= -e= -f= -m= --color? --colour? --include= --exclude= --exclude-dir= ' +
    '--exclude-from= --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp= --file= --ignore-case ' +
    '--no-ignore-case --invert-match --word-regexp --line-regexp --count --files-with-matches --files-without-match ' +
    '--max-count= --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label= ' +
    '--line-number --initial-tab --null --null-data --after-context= --before-context= --context= --text --binary ' +
    '--binary-files= --devices= --directories= --recursive --dereference-recursive --line-buffered --group-separator= --no-group-separator',
  isOpen: true,
  hasNumbers: true,
  operands: 'pattern',
  patternFlags: ['-e', '-f', '--regexp', '--file'],
  pathFlags: ['-f', '--file', '--exclude-from'],
  readsTree: isRecursive,
  includedNames: grepNames,
  readsHere: isRecursive,
  followsLinks: ({ flags }) => flags.some(({ name }) => name === '-R' || name === '--dereference-recursive'),
};

const FD: ProgramSpec = {
  flags:
    '-HIusigFapL01q -d= -t= -e= -E= -S= -o= -c= -j= --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive --ignore-case --glob --regex ' +
    '--fixed-strings --absolute-path --follow --full-path --print0 --max-depth= --min-depth= --exact-depth= --type= --extension= --exclude= --size= ' +
    '--changed-within= --changed-before= --owner= --max-results= --quiet --color= --threads= --prune --strip-cwd-prefix --relative-path',
  operands: 'pattern',
  readsHere: () => true,
  followsLinks: ({ flags }) => flags.some(({ name }) => name === '-L' || name === '--follow'),
};

const LINE_SEARCH = { flags: '-viEFPGwxS -e= -m= --invert-match --ignore-case --line-buffered', operands: 1 };

/** Programs that find and compare. */
export const SEARCH: readonly ProgramRecord[] = [
  {
    names: 'comm',
    isGnu: true,
    reads: {
      flags: '-123iz --check-order --nocheck-order --output-delimiter= --total --zero-terminated',
      isOpen: true,
      operands: 'paths',
    },
    answers: { 1: 'the files differ' },
  },
  {
    names: 'diff',
    reads: {
      flags:
        '-abBcdeEfiHnNpPqrsTtuwyZ -C= -U= -I= -x= -X= -W= -F= -S= -L= --color? --brief --recursive --unified? --context? --side-by-side --width= ' +
        '--suppress-common-lines --left-column --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-trailing-space ' +
        '--ignore-matching-lines= --strip-trailing-cr --text --new-file --exclude= --exclude-from= --label= --minimal --report-identical-files ' +
        '--show-c-function --show-function-line= --expand-tabs --no-dereference --normal --ed --rcs --tabsize= --speed-large-files --from-file= --to-file= ' +
        '--line-format= --old-line-format= --new-line-format= --unchanged-line-format= --unchanged-group-format= --changed-group-format= --old-group-format= --new-group-format= --starting-file=',
      hasNumbers: true,
      operands: 'paths',
      pathFlags: ['--from-file', '--to-file', '--exclude-from', '-X'],
      readsTree: isRecursive,
      followsLinks: (given) => isRecursive(given) && !given.flags.some(({ name }) => name === '--no-dereference'),
    },
    answers: { 1: 'the files differ' },
  },
  {
    names: 'sdiff',
    reads: { flags: '-iEbWBalsdt -w= --suppress-common-lines --width=', operands: 'paths', maxOperands: 2 },
  },
  { names: 'diff3', reads: { flags: '-aeEAxX3imT', operands: 'paths' } },
  {
    names: 'cmp',
    reads: {
      flags: '-bls -i= -n= --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent',
      isOpen: true,
      operands: 'paths',
    },
    boundOption: /^(?:-\w*n|--bytes)/,
    answers: { 1: 'the files differ' },
  },
  {
    names: 'grep',
    isGnu: true,
    reads: GREP,
    hasUnrelatedWriteOptions: true,
    isStream: true,
    lists: {
      flags:
        '-rlLiEFPGwxsIZ -e= --include= --exclude= --exclude-dir= --recursive --files-with-matches --files-without-match --ignore-case --null',
      operands: 'pattern',
      patternFlags: ['-e'],
      needs: ['-l', '-L', '--files-with-matches', '--files-without-match'],
      isHere: ({ flags }) => flags.some(({ name }) => name === '-r' || name === '--recursive'),
    },
    filtersLines: LINE_SEARCH,
    answers: { 1: 'no matches found' },
  },
  {
    names: 'egrep fgrep',
    isGnu: true,
    reads: GREP,
    hasUnrelatedWriteOptions: true,
    filtersLines: LINE_SEARCH,
    answers: { 1: 'no matches found' },
  },
  {
    names: 'zgrep',
    reads: {
      flags: '-EFGPachHiIlLnoqsvwx -A= -B= -C= -e= -m= --color? --ignore-case --count --line-number',
      operands: 'pattern',
      patternFlags: ['-e'],
    },
    answers: { 1: 'no matches found' },
  },
  // --search-zip and --pre run programs.
  {
    names: 'rg',
    reads: {
      flags:
        '-cFhHiIlLnNopPqsSuUvVwxa0. -A= -B= -C= -e= -f= -g= -t= -T= -m= -j= -M= -r= -d= -E= --files --hidden --no-hidden --no-ignore --no-ignore-vcs ' +
        '--no-ignore-parent --no-ignore-global --no-ignore-dot --ignore-file= --glob= --iglob= --type= --type-not= --type-list --type-add= --count --count-matches ' +
        '--files-with-matches --files-without-match --json --stats --sort= --sortr= --max-count= --max-depth= --max-columns= --max-columns-preview --multiline ' +
        '--multiline-dotall --no-heading --heading --line-number --no-line-number --column --no-column --color= --colors= --context= --after-context= --before-context= ' +
        '--context-separator= --fixed-strings --ignore-case --smart-case --case-sensitive --word-regexp --line-regexp --invert-match --only-matching --replace= ' +
        '--follow --text --null --null-data --trim --vimgrep --with-filename --no-filename --pcre2 --passthru --quiet --no-messages --no-config --max-filesize= ' +
        '--threads= --encoding= --engine= --regexp= --file= --unrestricted --crlf --byte-offset --include-zero --one-file-system --glob-case-insensitive --no-unicode --pretty',
      operands: 'pattern',
      patternFlags: ['-e', '-f', '--regexp', '--file', '--files', '--type-list'],
      pathFlags: ['-f', '--file', '--ignore-file'],
      readsTree: () => true,
      includedNames: rgNames,
      followsLinks: ({ flags }) => flags.some(({ name }) => name === '-L' || name === '--follow'),
      // With piped input it searches that instead.
      readsHere: ({ flags }, { isPiped }) => !isPiped || flags.some(({ name }) => name === '--files'),
    },
    runsBehind: /^--(?:pre|hostname-bin)$/,
    hasUnrelatedWriteOptions: true,
    lists: {
      flags:
        '-liSFwxuU0. -e= -g= -t= -T= --files --hidden --no-ignore --files-with-matches --files-without-match --glob= --iglob= --type= --type-not= --ignore-case ' +
        '--smart-case --fixed-strings --word-regexp --null --sort= --no-messages --no-config --max-depth= --multiline --regexp=',
      operands: 'pattern',
      patternFlags: ['-e', '--regexp', '--files'],
      needs: ['-l', '--files', '--files-with-matches', '--files-without-match'],
      printsHere: true,
    },
    filtersLines: LINE_SEARCH,
    answers: { 1: 'no matches found' },
  },
  { names: 'which', reads: { flags: '-as --all', isOpen: true, operands: 'names' }, answers: { 1: 'not found' } },
  { names: 'whereis', reads: { flags: '-bmsul', isOpen: true } },
  {
    names: 'fd fdfind',
    reads: FD,
    isFinder: true,
    runsBehind: /^-(?:x|X|-exec|-exec-batch)$/,
    lists: {
      flags:
        '-HIusigFp01 -d= -t= -e= -E= -S= --hidden --no-ignore --glob --type= --extension= --exclude= --max-depth= --print0',
      operands: 'pattern',
      printsHere: true,
    },
  },
  {
    names: 'find',
    isGnu: true,
    reads: FIND,
    isFinder: true,
    runsBehind: /^-(?:exec|execdir|ok|okdir)$/,
    actingOptions: /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/,
    changesInPlace: /^-delete$/,
    hasUnrelatedWriteOptions: true,
    warnings: [{ words: /-delete/, sentence: 'Deletes everything that find matches' }],
    isMetadataOnly: true,
    answers: { 1: 'some folders could not be read' },
  },
  { names: 'ack', runsBehind: /^--?pager$/, hasUnrelatedWriteOptions: true },
  { names: 'ag', runsBehind: /^--?pager$/, hasUnrelatedWriteOptions: true, answers: { 1: 'no matches found' } },
  { names: 'fzf sk', hiddenText: [{ words: /(?:execute|become|reload|transform)[\w-]*[([{:]/ }] },
];

/** Report whether the options search folders; also as `-d recurse`. */
function isRecursive({ flags }: ParsedArguments): boolean {
  return flags.some(
    ({ name, value }) =>
      /^(?:-[rR]|--(?:dereference-)?recursive)$/.test(name) ||
      (/^(?:-d|--directories)$/.test(name) && value?.literal !== 'skip'),
  );
}
