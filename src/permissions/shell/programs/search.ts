/** Programs that find files and text in them, and compare files. */
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
  },
  {
    names: 'sdiff',
    reads: { flags: '-iEbWBalsdt -w= --suppress-common-lines --width=', operands: 'paths', mostOperands: 2 },
  },
  { names: 'diff3', reads: { flags: '-aeEAxX3imT', operands: 'paths' } },
  {
    names: 'cmp',
    reads: {
      flags: '-bls -i= -n= --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent',
      isOpen: true,
      operands: 'paths',
    },
  },
  { names: 'grep egrep fgrep', isGnu: true, reads: GREP },
  {
    names: 'zgrep',
    reads: {
      flags: '-EFGPachHiIlLnoqsvwx -A= -B= -C= -e= -m= --color? --ignore-case --count --line-number',
      operands: 'pattern',
      patternFlags: ['-e'],
    },
  },
  // Search of compressed files and --pre run programs.
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
      // What is piped in is searched instead.
      readsHere: ({ flags }, { isPiped }) => !isPiped || flags.some(({ name }) => name === '--files'),
    },
    runsBehind: /^--(?:pre|hostname-bin)$/,
  },
  { names: 'which', reads: { flags: '-as --all', isOpen: true, operands: 'names' } },
  { names: 'whereis', reads: { flags: '-bmsul', isOpen: true } },
  { names: 'fd fdfind', reads: FD, isFinder: true, runsBehind: /^-(?:x|X|-exec|-exec-batch)$/ },
  {
    names: 'find',
    isGnu: true,
    reads: FIND,
    isCoveredWhole: true,
    isFinder: true,
    runsBehind: /^-(?:exec|execdir|ok|okdir)$/,
  },
  { names: 'ack ag', runsBehind: /^--?pager$/ },
  { names: 'fzf sk', hiddenText: [{ words: /(?:execute|become|reload|transform)[\w-]*[([{:]/ }] },
];

/** Also as `-d recurse`. */
function isRecursive({ flags }: ParsedArguments): boolean {
  return flags.some(
    ({ name, value }) =>
      /^(?:-[rR]|--(?:dereference-)?recursive)$/.test(name) ||
      (/^(?:-d|--directories)$/.test(name) && value?.literal !== 'skip'),
  );
}
