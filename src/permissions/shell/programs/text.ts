/** Programs that turn text into other text, show it, or calculate. */
import type { ParsedArguments } from '../flags.ts';
import type { ProgramRecord } from '../program-record.ts';
import { judgeProgram, NO_PATHS, OPTION_FILE, type ProgramSpec, refusing } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';
import { AWK } from './awk.ts';
import { JQ, YQ } from './json.ts';
import { SED } from './sed.ts';

const CHECKSUM: ProgramSpec = {
  flags:
    '-bctwz -a= -l= --check --tag --untagged --quiet --status --strict --ignore-missing --warn --binary --text --zero --base64 --raw --algorithm= --length=',
  isOpen: true,
  operands: 'paths',
  // What is checked stands in a list.
  listFlags: ['-c', '--check'],
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

const WHATIS: ProgramSpec = {
  flags: '-rwl -s= --regex --wildcard --exact --sections=',
  check: namesOnly,
};

/** tee with no file but the null device only passes text on. */
const TEE: ProgramSpec = {
  flags: '-aip --append --ignore-interrupts --output-error?',
  check: ({ operands }) => (operands.every((word) => word.literal === '/dev/null') ? undefined : 'tee writes files'),
};

/** Programs about text. */
export const TEXT: readonly ProgramRecord[] = [
  {
    names: 'cat',
    reads: {
      flags:
        '-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting',
      isOpen: true,
      operands: 'paths',
    },
  },
  { names: 'tac', reads: { flags: '-br -s= --before --regex --separator=', isOpen: true, operands: 'paths' } },
  { names: 'rev', reads: { flags: '-0hV --zero', isOpen: true, operands: 'paths' } },
  {
    names: 'nl',
    reads: {
      flags:
        '-p -b= -d= -f= -h= -i= -l= -n= -s= -v= -w= --body-numbering= --number-format= --number-separator= --number-width= --starting-line-number= --line-increment=',
      isOpen: true,
      operands: 'paths',
    },
  },
  {
    names: 'head',
    reads: {
      flags: '-qvz -c= -n= --bytes= --lines= --quiet --silent --verbose --zero-terminated',
      isOpen: true,
      hasNumbers: true,
      operands: 'paths',
    },
  },
  {
    names: 'tail',
    reads: {
      flags:
        '-fFqvzr -c= -n= -s= --follow? --bytes= --lines= --pid= --quiet --silent --verbose --retry --sleep-interval= --max-unchanged-stats= --zero-terminated',
      isOpen: true,
      hasNumbers: true,
      operands: 'paths',
    },
  },
  {
    names: 'wc',
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
    reads: {
      flags:
        '-nsz -b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --only-delimited --complement --output-delimiter= --zero-terminated',
      isOpen: true,
      operands: 'paths',
    },
  },
  {
    names: 'paste',
    reads: { flags: '-sz -d= --delimiters= --serial --zero-terminated', isOpen: true, operands: 'paths' },
  },
  { names: 'tr', reads: { flags: '-cCdst --complement --delete --squeeze-repeats --truncate-set1', isOpen: true } },
  // Neither -o nor -T nor --compress-program: they write and run.
  {
    names: 'sort',
    reads: {
      flags:
        '-bcCdfghiMmnRrsuVz -k= -t= -S= --key= --field-separator= --buffer-size= --parallel= --batch-size= --check? ' +
        '--ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --ignore-nonprinting ' +
        '--month-sort --numeric-sort --random-sort --reverse --sort= --version-sort --merge --stable --unique --zero-terminated --debug --files0-from= --random-source=',
      operands: 'paths',
      pathFlags: ['--files0-from', '--random-source'],
      listFlags: ['--files0-from'],
    },
  },
  // A second operand is the file it writes.
  {
    names: 'uniq',
    reads: {
      flags:
        '-cdDiuz -f= -s= -w= --count --repeated --all-repeated? --group? --ignore-case --unique --skip-fields= --skip-chars= --check-chars= --zero-terminated',
      operands: 'paths',
      mostOperands: 1,
    },
  },
  {
    names: 'join',
    reads: {
      flags:
        '-iz -a= -e= -1= -2= -j= -o= -t= -v= --ignore-case --check-order --nocheck-order --header --zero-terminated',
      isOpen: true,
      operands: 'paths',
    },
  },
  {
    names: 'fold',
    reads: { flags: '-bs -w= --bytes --spaces --width=', isOpen: true, hasNumbers: true, operands: 'paths' },
  },
  {
    names: 'fmt',
    reads: {
      flags: '-cstu -w= -p= -g= --width= --split-only --uniform-spacing --prefix= --goal=',
      isOpen: true,
      hasNumbers: true,
      operands: 'paths',
    },
  },
  {
    names: 'pr',
    reads: {
      flags: '-adfFJmrtTv -D= -e? -h= -i? -l= -n? -N= -o= -s? -S? -w= -W=',
      hasNumbers: true,
      operands: 'paths',
    },
  },
  { names: 'expand', reads: { flags: '-i -t= --initial --tabs=', isOpen: true, operands: 'paths' } },
  { names: 'unexpand', reads: { flags: '-a -t= --all --first-only --tabs=', isOpen: true, operands: 'paths' } },
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
    names: 'od',
    reads: {
      flags:
        '-abcdfhilosxv -A= -j= -N= -S= -t= -w? --address-radix= --skip-bytes= --read-bytes= --strings? --format= --output-duplicates --width? --endian=',
      isOpen: true,
      operands: 'paths',
    },
  },
  {
    names: 'hexdump',
    reads: {
      flags: '-bcCdovx -e= -f= -n= -s= --canonical --length= --skip= --no-squeezing',
      isOpen: true,
      operands: 'paths',
      pathFlags: ['-f'],
    },
  },
  { names: 'hd', reads: { flags: '-bcCdovx -e= -f= -n= -s=', isOpen: true, operands: 'paths', pathFlags: ['-f'] } },
  { names: 'xxd', reads: { judge: (words, facts) => judgeProgram(XXD, words.map(plainDump), facts) } },
  { names: 'base64 base32 basenc', reads: BASE },
  {
    names: 'strings',
    reads: refusing(OPTION_FILE, {
      flags: '-afow -n= -t= -e= -s= --all --bytes= --radix= --encoding= --print-file-name --output-separator=',
      operands: 'paths',
      hasNumbers: true,
    }),
  },
  { names: 'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum b2sum cksum', reads: CHECKSUM },
  { names: 'md5', reads: { flags: '-pqrtx -s=', isOpen: true, operands: 'paths' } },
  { names: 'sum', reads: { flags: '-rs --sysv', isOpen: true, operands: 'paths' } },
  { names: 'seq', reads: { flags: '-w -f= -s= --format= --separator= --equal-width', isOpen: true, hasNumbers: true } },
  {
    names: 'shuf',
    reads: {
      flags: '-erz -i= -n= --echo --input-range= --head-count= --repeat --zero-terminated --random-source=',
      operands: 'paths',
      pathFlags: ['--random-source'],
    },
  },
  {
    names: 'numfmt',
    reads: {
      flags:
        '-dz --to= --from= --field= --suffix= --padding= --format= --grouping --header? --delimiter= --invalid= --round= --to-unit= --from-unit=',
      isOpen: true,
      hasNumbers: true,
    },
  },
  { names: 'factor yes', reads: { isOpen: true } },
  { names: 'tsort', reads: { isOpen: true, operands: 'paths' } },
  { names: 'iconv', reads: { flags: '-lcs -f= -t= --from-code= --to-code= --list --silent', operands: 'paths' } },
  { names: 'bat batcat', reads: BAT },
  {
    names: 'shellcheck',
    reads: {
      flags:
        '-aCV -f= -s= -e= -i= -S= -o= -W= --format= --shell= --exclude= --include= --severity= --enable= --color? --norc --list-optional',
      operands: 'paths',
      // It shows what a script sources, which `.shellcheckrc` lets lie anywhere.
      listFlags: ['-a'],
    },
  },
  { names: 'jq', reads: JQ },
  { names: 'yq', reads: YQ },
  { names: 'less', reads: { flags: '-NRSFXinreEMmIswG', operands: 'paths', check: noPagerCommand } },
  { names: 'more', reads: { flags: '-dflcsu', hasNumbers: true, operands: 'paths', check: noPagerCommand } },
  {
    names: 'expr',
    reads: {
      judge: (words) => ({ reads: NO_PATHS, ...(words.length === 0 && { problem: 'expr lacks an expression' }) }),
    },
    isCoveredWhole: true,
  },
  { names: 'bc', reads: { flags: '-lqsw --mathlib --quiet --standard --warn', isOpen: true, operands: 'paths' } },
  {
    names: 'man',
    reads: { flags: '-kfw -s= --apropos --whatis --where --path --sections=', check: namesOnly },
    isCoveredWhole: true,
  },
  { names: 'whatis apropos', reads: WHATIS, isCoveredWhole: true },
  { names: 'patch', reads: { alone: '--version -v' } },
  { names: 'sed', aliases: 'gsed', reads: SED, isCoveredWhole: true },
  { names: 'awk', aliases: 'gawk mawk nawk', reads: AWK, isCoveredWhole: true },
  { names: 'tee', reads: TEE, isCoveredWhole: true },
];

/** xxd's `-ps` is one option. */
function plainDump(word: ShellWord): ShellWord {
  return /^-(?:ps|plain|postscript)$/.test(word.literal ?? '') ? { ...word, literal: '-p' } : word;
}

function noPagerCommand({ operands }: ParsedArguments): string | undefined {
  return operands.some((word) => !/^[^+]/.test(word.prefix)) ? 'an operand may be a command to the pager' : undefined;
}

function namesOnly({ operands }: ParsedArguments): string | undefined {
  return operands.every((word) => word.literal !== undefined && /^\w[\w.+:-]*$/.test(word.literal))
    ? undefined
    : 'an operand may be a file';
}
