/** Programs that turn text into other text on standard output. */
import type { ParsedArguments } from '../flags.ts';
import { grepNames, rgNames } from '../included-names.ts';
import { judgeProgram, OPTION_FILE, type ProgramSpec, refusing } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';
import { JQ, YQ } from './json.ts';

const CHECKSUM: ProgramSpec = {
  flags:
    '-bctwz -a= -l= --check --tag --untagged --quiet --status --strict --ignore-missing --warn --binary --text --zero --base64 --raw --algorithm= --length=',
  isOpen: true,
  operands: 'paths',
  // What is checked stands in a list.
  listFlags: ['-c', '--check'],
};

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

// Neither --pager, nor paging where nobody sees it, nor --diff, nor the sub-command `cache`.
const BAT = refusing(/^--paging(?!=(?:never|auto)$)/, {
  flags:
    '-pnAPuf -l= -r= -H= -m= --plain --number --show-all --language= --line-range= --highlight-line= --style= --theme= --color= --decorations= --paging= --wrap= --tabs= ' +
    '--terminal-width= --file-name= --list-languages --list-themes --squeeze-blank --no-config --no-custom-assets',
  operands: 'paths',
  check: ({ operands }) =>
    operands[0]?.prefix === 'cache' || operands[0]?.prefix === '' ? 'bat may change its cache' : undefined,
});

const BASE: ProgramSpec = {
  flags: '-di -w= --decode --ignore-garbage --wrap= --base64 --base64url --base32 --base32hex --base16',
  operands: 'paths',
  mostOperands: 1,
};

// A second operand is the file it writes. It knows no bundles: `-bc f` is `-b f`, with another operand to come.
const XXD = refusing(/^-[a-zA-Z](?![+-]?\d*$)./, {
  flags: '-abCdeEhipqruv -c= -g= -l= -n= -o= -s=',
  operands: 'paths',
  mostOperands: 1,
});

/** Text programs by name. */
export const TEXT_PROGRAMS: Readonly<Record<string, ProgramSpec>> = {
  cat: {
    flags:
      '-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting',
    isOpen: true,
    operands: 'paths',
  },
  tac: { flags: '-br -s= --before --regex --separator=', isOpen: true, operands: 'paths' },
  rev: { flags: '-0hV --zero', isOpen: true, operands: 'paths' },
  nl: {
    flags:
      '-p -b= -d= -f= -h= -i= -l= -n= -s= -v= -w= --body-numbering= --number-format= --number-separator= --number-width= --starting-line-number= --line-increment=',
    isOpen: true,
    operands: 'paths',
  },
  head: {
    flags: '-qvz -c= -n= --bytes= --lines= --quiet --silent --verbose --zero-terminated',
    isOpen: true,
    hasNumbers: true,
    operands: 'paths',
  },
  tail: {
    flags:
      '-fFqvzr -c= -n= -s= --follow? --bytes= --lines= --pid= --quiet --silent --verbose --retry --sleep-interval= --max-unchanged-stats= --zero-terminated',
    isOpen: true,
    hasNumbers: true,
    operands: 'paths',
  },
  wc: {
    flags: '-clLmw --bytes --chars --lines --words --max-line-length --files0-from= --total=',
    isOpen: true,
    operands: 'paths',
    pathFlags: ['--files0-from'],
    listFlags: ['--files0-from'],
  },
  cut: {
    flags:
      '-nsz -b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --only-delimited --complement --output-delimiter= --zero-terminated',
    isOpen: true,
    operands: 'paths',
  },
  paste: { flags: '-sz -d= --delimiters= --serial --zero-terminated', isOpen: true, operands: 'paths' },
  tr: { flags: '-cCdst --complement --delete --squeeze-repeats --truncate-set1', isOpen: true },
  // Neither -o nor -T nor --compress-program: they write and run.
  sort: {
    flags:
      '-bcCdfghiMmnRrsuVz -k= -t= -S= --key= --field-separator= --buffer-size= --parallel= --batch-size= --check? ' +
      '--ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --ignore-nonprinting ' +
      '--month-sort --numeric-sort --random-sort --reverse --sort= --version-sort --merge --stable --unique --zero-terminated --debug --files0-from= --random-source=',
    operands: 'paths',
    pathFlags: ['--files0-from', '--random-source'],
    listFlags: ['--files0-from'],
  },
  // A second operand is the file it writes.
  uniq: {
    flags:
      '-cdDiuz -f= -s= -w= --count --repeated --all-repeated? --group? --ignore-case --unique --skip-fields= --skip-chars= --check-chars= --zero-terminated',
    operands: 'paths',
    mostOperands: 1,
  },
  comm: {
    flags: '-123iz --check-order --nocheck-order --output-delimiter= --total --zero-terminated',
    isOpen: true,
    operands: 'paths',
  },
  join: {
    flags: '-iz -a= -e= -1= -2= -j= -o= -t= -v= --ignore-case --check-order --nocheck-order --header --zero-terminated',
    isOpen: true,
    operands: 'paths',
  },
  diff: {
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
  sdiff: { flags: '-iEbWBalsdt -w= --suppress-common-lines --width=', operands: 'paths', mostOperands: 2 },
  diff3: { flags: '-aeEAxX3imT', operands: 'paths' },
  cmp: {
    flags: '-bls -i= -n= --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent',
    isOpen: true,
    operands: 'paths',
  },
  fold: { flags: '-bs -w= --bytes --spaces --width=', isOpen: true, hasNumbers: true, operands: 'paths' },
  fmt: {
    flags: '-cstu -w= -p= -g= --width= --split-only --uniform-spacing --prefix= --goal=',
    isOpen: true,
    hasNumbers: true,
    operands: 'paths',
  },
  pr: { flags: '-adfFJmrtTv -D= -e? -h= -i? -l= -n? -N= -o= -s? -S? -w= -W=', hasNumbers: true, operands: 'paths' },
  expand: { flags: '-i -t= --initial --tabs=', isOpen: true, operands: 'paths' },
  unexpand: { flags: '-a -t= --all --first-only --tabs=', isOpen: true, operands: 'paths' },
  column: {
    flags:
      '-txeLJ -s= -o= -c= -N= -R= -T= -E= -H= -O= -n= -l= -W= -r= -i= -p= --table --separator= --output-separator= --output-width= --table-columns= --table-right= --table-truncate= --table-hide= --table-order= --table-name= --json --fillrows --keep-empty-lines --table-noheadings --table-columns-limit=',
    isOpen: true,
    operands: 'paths',
  },
  od: {
    flags:
      '-abcdfhilosxv -A= -j= -N= -S= -t= -w? --address-radix= --skip-bytes= --read-bytes= --strings? --format= --output-duplicates --width? --endian=',
    isOpen: true,
    operands: 'paths',
  },
  hexdump: {
    flags: '-bcCdovx -e= -f= -n= -s= --canonical --length= --skip= --no-squeezing',
    isOpen: true,
    operands: 'paths',
    pathFlags: ['-f'],
  },
  hd: { flags: '-bcCdovx -e= -f= -n= -s=', isOpen: true, operands: 'paths', pathFlags: ['-f'] },
  xxd: { judge: (words, facts) => judgeProgram(XXD, words.map(plainDump), facts) },
  base64: BASE,
  base32: BASE,
  basenc: BASE,
  strings: refusing(OPTION_FILE, {
    flags: '-afow -n= -t= -e= -s= --all --bytes= --radix= --encoding= --print-file-name --output-separator=',
    operands: 'paths',
    hasNumbers: true,
  }),
  md5sum: CHECKSUM,
  sha1sum: CHECKSUM,
  sha224sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha384sum: CHECKSUM,
  sha512sum: CHECKSUM,
  shasum: CHECKSUM,
  md5: { flags: '-pqrtx -s=', isOpen: true, operands: 'paths' },
  b2sum: CHECKSUM,
  cksum: CHECKSUM,
  sum: { flags: '-rs --sysv', isOpen: true, operands: 'paths' },
  seq: { flags: '-w -f= -s= --format= --separator= --equal-width', isOpen: true, hasNumbers: true },
  shuf: {
    flags: '-erz -i= -n= --echo --input-range= --head-count= --repeat --zero-terminated --random-source=',
    operands: 'paths',
    pathFlags: ['--random-source'],
  },
  numfmt: {
    flags:
      '-dz --to= --from= --field= --suffix= --padding= --format= --grouping --header? --delimiter= --invalid= --round= --to-unit= --from-unit=',
    isOpen: true,
    hasNumbers: true,
  },
  factor: { isOpen: true },
  tsort: { isOpen: true, operands: 'paths' },
  iconv: { flags: '-lcs -f= -t= --from-code= --to-code= --list --silent', operands: 'paths' },
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  zgrep: {
    flags: '-EFGPachHiIlLnoqsvwx -A= -B= -C= -e= -m= --color? --ignore-case --count --line-number',
    operands: 'pattern',
    patternFlags: ['-e'],
  },
  bat: BAT,
  batcat: BAT,
  shellcheck: {
    flags:
      '-aCV -f= -s= -e= -i= -S= -o= -W= --format= --shell= --exclude= --include= --severity= --enable= --color? --norc --list-optional',
    operands: 'paths',
    // It shows what a script sources, which `.shellcheckrc` lets lie anywhere.
    listFlags: ['-a'],
  },
  jq: JQ,
  yq: YQ,
  // Search of compressed files and --pre run programs.
  rg: {
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
};

/** xxd's `-ps` is one option. */
function plainDump(word: ShellWord): ShellWord {
  return /^-(?:ps|plain|postscript)$/.test(word.literal ?? '') ? { ...word, literal: '-p' } : word;
}

/** Also as `-d recurse`. */
function isRecursive({ flags }: ParsedArguments): boolean {
  return flags.some(
    ({ name, value }) =>
      /^(?:-[rR]|--(?:dereference-)?recursive)$/.test(name) ||
      (/^(?:-d|--directories)$/.test(name) && value?.literal !== 'skip'),
  );
}
