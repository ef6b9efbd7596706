/** Compilers, linkers and language build tools. */
import type { ProgramRecord } from '../program-record.ts';
import { OPTION_FILE, withRefusedWords } from '../program-spec.ts';

/** Compilers and related tools. */
export const COMPILERS: readonly ProgramRecord[] = [
  // GNU binutils read options from a file that is given as `@file`.
  {
    names: 'readelf',
    reads: withRefusedWords(OPTION_FILE, {
      flags:
        '-ahlSsenrdVAuWIt -x= -p= --all --file-header --program-headers --sections --symbols --dyn-syms --headers --notes --relocs --dynamic --version-info --wide --segments --hex-dump= --string-dump=',
      operands: 'paths',
    }),
  },
  {
    names: 'nm',
    reads: withRefusedWords(OPTION_FILE, {
      flags:
        '-aACDgnoprSuUv --defined-only --undefined-only --extern-only --demangle? --size-sort --numeric-sort --dynamic --print-size --print-file-name --no-sort --reverse-sort',
      operands: 'paths',
    }),
    hiddenText: [{ words: /^--?plugin(?:=|$)|^@/ }],
  },
  {
    names: 'objdump',
    reads: withRefusedWords(OPTION_FILE, {
      flags:
        '-dDfhprRstTxCw -M= -j= --disassemble --file-headers --section-headers --all-headers --syms --dynamic-syms --reloc --full-contents --demangle? --section=',
      operands: 'paths',
    }),
    hiddenText: [{ words: /^--?plugin(?:=|$)|^@/ }],
  },
  {
    names: 'size',
    reads: withRefusedWords(OPTION_FILE, { flags: '-ABdoxt --format= --totals', operands: 'paths' }),
    hiddenText: [{ words: /^--?plugin(?:=|$)|^@/ }],
  },
  {
    names: 'gcc g++',
    isVersioned: true,
    reads: { alone: '--version' },
    runsBehind: /^-wrapper$/,
    hiddenText: [
      {
        words: /^-f(?:plugin|pass-plugin)\b|^-(?:B|specs=|iplugindir|load|-plugin)|^-Wl,.*plugin|^-Xlinker$|^@/,
      },
    ],
  },
  {
    names: 'clang clang++',
    isVersioned: true,
    reads: { alone: '--version' },
    hiddenText: [
      {
        words: /^-f(?:plugin|pass-plugin)\b|^-(?:B|specs=|iplugindir|load|-plugin)|^-Wl,.*plugin|^-Xlinker$|^@/,
      },
    ],
  },
  {
    names: 'cc',
    reads: { alone: '--version' },
    runsBehind: /^-wrapper$/,
    hiddenText: [
      {
        words: /^-f(?:plugin|pass-plugin)\b|^-(?:B|specs=|iplugindir|load|-plugin)|^-Wl,.*plugin|^-Xlinker$|^@/,
      },
    ],
  },
  { names: 'ld', reads: { alone: '--version -v' }, hiddenText: [{ words: /^--?plugin(?:=|$)|^@/ }] },
  { names: 'as', reads: { alone: '--version' }, hiddenText: [{ words: /^--?plugin(?:=|$)|^@/ }] },
  {
    names: 'javac',
    reads: { alone: '-version --version' },
    hiddenText: [{ words: /^-{1,2}(?:processor|processor-?path|processor-module-path|J\S+|Xplugin\S*)|^@/ }],
  },
  {
    names: 'cabal stack',
    reads: { alone: '--version' },
    hiddenText: [{ command: /^(?:run|test|bench|exec|runghc|script)$/ }],
  },
  {
    names: 'cpp',
    isVersioned: true,
    runsBehind: /^-wrapper$/,
    hiddenText: [
      {
        words: /^-f(?:plugin|pass-plugin)\b|^-(?:B|specs=|iplugindir|load|-plugin)|^-Wl,.*plugin|^-Xlinker$|^@/,
      },
    ],
  },
  { names: 'ccache distcc sccache icecc bear scan-build', isLauncher: true },
  {
    names: 'c++ gfortran',
    runsBehind: /^-wrapper$/,
    hiddenText: [
      {
        words: /^-f(?:plugin|pass-plugin)\b|^-(?:B|specs=|iplugindir|load|-plugin)|^-Wl,.*plugin|^-Xlinker$|^@/,
      },
    ],
  },
  {
    names: 'go',
    runsBehind: /^-?-(?:toolexec|exec|vettool)$/,
    hasOperandsBehindDashes: true,
    hiddenText: [{ command: /^(?:run|generate|test)$/ }, { words: /^-?-(?:vettool|toolexec|exec|overlay)\b/ }],
    hasUnrelatedWriteOptions: true,
    suggests: 'subcommand',
    restartable: /^(?:get|install)\b/,
  },
  {
    names: 'cargo',
    hasOperandsBehindDashes: true,
    hiddenText: [{ command: /^(?:run|r|test|t|bench|nextest|miri)$/ }, { words: /^--config(?:=|$)/ }],
    hasUnrelatedWriteOptions: true,
    warnings: [{ words: /^(?:publish|push)/, sentence: 'Publishes to others' }],
    suggests: 'subcommand',
    restartable: /^(?:install|add|run|watch)\b/,
    skippedOperands: /^\+/,
  },
  { names: 'rustup', hasOperandsBehindDashes: true, suggests: 'subcommand' },
  {
    names: 'dotnet',
    hasOperandsBehindDashes: true,
    hiddenText: [{ command: /^(?:run|test|watch|exec|msbuild|script|\S+\.dll)$/ }],
    suggests: 'subcommand',
  },
  { names: 'swift', hiddenText: [{ command: /^(?:run|test|\S+\.swift)$/ }], suggests: 'subcommand' },
  { names: 'zig', hiddenText: [{ command: /^(?:run|test|build)$/ }] },
  { names: 'dart', hiddenText: [{ command: /^(?:run|test|drive|\S+\.dart)$/ }] },
  { names: 'flutter', hiddenText: [{ command: /^(?:run|test|drive|\S+\.dart)$/ }], suggests: 'subcommand' },
  { names: 'mix', hiddenText: [{ command: /^(?:run|test|do)$/ }] },
  { names: 'nim crystal v', hiddenText: [{ command: /^(?:r|run|spec|test)$/ }] },
  {
    names: 'gdc gnat',
    hiddenText: [
      {
        words: /^-f(?:plugin|pass-plugin)\b|^-(?:B|specs=|iplugindir|load|-plugin)|^-Wl,.*plugin|^-Xlinker$|^@/,
      },
    ],
  },
  { names: 'tcc', hiddenText: [{ words: /^-run$|^-B/ }] },
  {
    names: 'ld.bfd ld.gold ld.lld lld objcopy strip ar ranlib gcc-ar gcc-nm gcc-ranlib',
    hiddenText: [{ words: /^--?plugin(?:=|$)|^@/ }],
  },
  { names: 'rustc', hiddenText: [{ words: /^(?:-C|--codegen=?)?(?:linker|llvm-args|plugin)|^-Z|^@/ }] },
  { names: 'rustfmt', writesOperands: 'all' },
];
