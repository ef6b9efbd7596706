/** Compilers, linkers and the tools of languages that build by them. */
import type { ProgramRecord } from '../program-record.ts';
import { OPTION_FILE, refusing } from '../program-spec.ts';

/** Compilers and their kin. */
export const COMPILERS: readonly ProgramRecord[] = [
  // GNU binutils read options from a file that is given as `@file`.
  {
    names: 'readelf',
    reads: refusing(OPTION_FILE, {
      flags:
        '-ahlSsenrdVAuWIt -x= -p= --all --file-header --program-headers --sections --symbols --dyn-syms --headers --notes --relocs --dynamic --version-info --wide --segments --hex-dump= --string-dump=',
      operands: 'paths',
    }),
  },
  {
    names: 'nm',
    reads: refusing(OPTION_FILE, {
      flags:
        '-aACDgnoprSuUv --defined-only --undefined-only --extern-only --demangle? --size-sort --numeric-sort --dynamic --print-size --print-file-name --no-sort --reverse-sort',
      operands: 'paths',
    }),
  },
  {
    names: 'objdump',
    reads: refusing(OPTION_FILE, {
      flags:
        '-dDfhprRstTxCw -M= -j= --disassemble --file-headers --section-headers --all-headers --syms --dynamic-syms --reloc --full-contents --demangle? --section=',
      operands: 'paths',
    }),
  },
  { names: 'size', reads: refusing(OPTION_FILE, { flags: '-ABdoxt --format= --totals', operands: 'paths' }) },
  { names: 'gcc g++ clang clang++ cc as cabal stack', reads: { alone: '--version' } },
  { names: 'ld', reads: { alone: '--version -v' } },
  { names: 'javac', reads: { alone: '-version --version' } },
];
