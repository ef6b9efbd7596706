/** Programs that show, encode and checksum bytes. */
import type { ProgramRecord } from '../program-record.ts';
import { judgeProgram, OPTION_FILE, type ProgramSpec, withRefusedWords } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';

const CHECKSUM: ProgramSpec = {
  flags:
    '-bctwz -a= -l= --check --tag --untagged --quiet --status --strict --ignore-missing --warn --binary --text --zero --base64 --raw --algorithm= --length=',
  isOpen: true,
  operands: 'paths',
  // The files to check are in a list.
  listFlags: ['-c', '--check'],
};

const BASE: ProgramSpec = {
  flags: '-di -w= --decode --ignore-garbage --wrap= --base64 --base64url --base32 --base32hex --base16',
  operands: 'paths',
  maxOperands: 1,
};

// A second operand is the output file. xxd has no bundled options: `-bc f` is `-b f`, followed by another operand.
const XXD = withRefusedWords(/^-[a-zA-Z](?![+-]?\d*$)./, {
  flags: '-abCdeEhipqruv -c= -g= -l= -n= -o= -s=',
  operands: 'paths',
  maxOperands: 1,
});

/** Programs about bytes. */
export const BYTES: readonly ProgramRecord[] = [
  {
    names: 'od',
    isGnu: true,
    reads: {
      flags:
        '-abcdfhilosxv -A= -j= -N= -S= -t= -w? --address-radix= --skip-bytes= --read-bytes= --strings? --format= --output-duplicates --width? --endian=',
      isOpen: true,
      operands: 'paths',
    },
    boundOption: /^(?:-\w*N|--read-bytes)/,
    isStream: true,
  },
  {
    names: 'hexdump',
    reads: {
      flags: '-bcCdovx -e= -f= -n= -s= --canonical --length= --skip= --no-squeezing',
      isOpen: true,
      operands: 'paths',
      pathFlags: ['-f'],
    },
    boundOption: /^(?:-\w*n|--length)/,
    isStream: true,
  },
  {
    names: 'hd',
    reads: { flags: '-bcCdovx -e= -f= -n= -s=', isOpen: true, operands: 'paths', pathFlags: ['-f'] },
    boundOption: /^-\w*n/,
    isStream: true,
  },
  {
    names: 'xxd',
    reads: { judge: (words, facts) => judgeProgram(XXD, words.map(plainDump), facts) },
    writesOperands: 'last',
    readsOperands: 'others',
    boundOption: /^-l/,
    isStream: true,
  },
  { names: 'base64 base32', isGnu: true, reads: BASE, isStream: true },
  { names: 'basenc', isGnu: true, reads: BASE },
  {
    names: 'strings',
    reads: withRefusedWords(OPTION_FILE, {
      flags: '-afow -n= -t= -e= -s= --all --bytes= --radix= --encoding= --print-file-name --output-separator=',
      operands: 'paths',
      hasNumbers: true,
    }),
    isStream: true,
  },
  { names: 'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum', isGnu: true, reads: CHECKSUM },
  { names: 'shasum', reads: CHECKSUM },
  { names: 'md5', reads: { flags: '-pqrtx -s=', isOpen: true, operands: 'paths' } },
  { names: 'sum', isGnu: true, reads: { flags: '-rs --sysv', isOpen: true, operands: 'paths' } },
];

/** Rewrite xxd's `-ps`, which is one option, as `-p`. */
function plainDump(word: ShellWord): ShellWord {
  return /^-(?:ps|plain|postscript)$/.test(word.literal ?? '') ? { ...word, literal: '-p' } : word;
}
