/** Programs that look at files and folders. */
import type { ParsedArguments } from '../flags.ts';
import { judgeProgram, OPTION_FILE, type ProgramSpec, refusing } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';

const FD: ProgramSpec = {
  flags:
    '-HIusigFapL01q -d= -t= -e= -E= -S= -o= -c= -j= --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive --ignore-case --glob --regex ' +
    '--fixed-strings --absolute-path --follow --full-path --print0 --max-depth= --min-depth= --exact-depth= --type= --extension= --exclude= --size= ' +
    '--changed-within= --changed-before= --owner= --max-results= --quiet --color= --threads= --prune --strip-cwd-prefix --relative-path',
  operands: 'pattern',
  readsHere: always,
  followsLinks: ({ flags }) => flags.some(({ name }) => name === '-L' || name === '--follow'),
};

const TAR: ProgramSpec = {
  flags:
    '-txOvzjJa -f= --list --extract --to-stdout --verbose --gzip --bzip2 --xz --zstd --file= --exclude= --wildcards --full-time --numeric-owner --force-local --strip-components=',
  check: listsArchive,
  pathFlags: ['-f', '--file'],
};

/** Compressors replace their file by another, unless they print, list or test. */
const UNPACK: ProgramSpec = {
  isCoveredWhole: true,
  flags: '-cdflnqtv --stdout --to-stdout --decompress --uncompress --list --test --quiet --verbose --force',
  operands: 'paths',
  check: printsUnpacked,
};

/** File programs by name. */
export const FILE_PROGRAMS: Readonly<Record<string, ProgramSpec>> = {
  ls: {
    flags:
      '-aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1@eOTW -I= -w= --all --almost-all --author --escape --block-size= --ignore-backups --color? --directory --dired ' +
      '--classify? --file-type --format= --full-time --no-group --group-directories-first --human-readable --si --dereference --dereference-command-line ' +
      '--hide= --hyperlink? --indicator-style= --inode --ignore= --kibibytes --numeric-uid-gid --literal --hide-control-chars --show-control-chars ' +
      '--quote-name --quoting-style= --reverse --recursive --size --sort= --time= --time-style= --tabsize= --width= --context --zero',
    isOpen: true,
    operands: 'paths',
    readsHere: always,
    followsLinks: isDereferencing,
  },
  dir: { flags: '-aAbCdFghiklnpQrRsStuUvxX1', isOpen: true, operands: 'paths', readsHere: always },
  vdir: { flags: '-aAbCdFghiklnpQrRsStuUvxX1', isOpen: true, operands: 'paths', readsHere: always },
  // -o and the pair -R -H write files.
  // A letter that takes a value takes the next word, and those behind it are options of their own: `-Lo 2 out`.
  tree: refusing(/^-[a-zA-Z]*(?:[IP].|L(?!\d*$))/, {
    flags:
      '-adfilshpugDCnFJXQNqrtUxASvc -L= -I= -P= --dirsfirst --filesfirst --noreport --gitignore --prune --du --si --filelimit= --timefmt= --charset= ' +
      '--matchdirs --ignore-case --sort? --inodes --device --fromfile --metafirst --info',
    operands: 'paths',
    readsHere: always,
    followsLinks: ({ flags }) => flags.some(({ name }) => name === '-l'),
  }),
  stat: {
    flags: '-fLtxnqs -c= --format= --printf= --file-system --terse --dereference --cached=',
    isOpen: true,
    operands: 'paths',
  },
  // -C compiles, -z runs decompressors, -p touches times.
  file: {
    flags:
      '-biIkLhNnrsE0v -F= -f= -e= --brief --mime --mime-type --mime-encoding --extension --dereference --no-dereference --no-pad --keep-going --separator= --raw --special-files --print0',
    operands: 'paths',
    pathFlags: ['-f'],
    listFlags: ['-f'],
  },
  du: {
    flags:
      '-abchHklLmPsSxD0 -d= -t= -X= -B= --apparent-size --max-depth= --summarize --human-readable --total --all --bytes --exclude= --exclude-from= --time? ' +
      '--time-style= --threshold= --si --block-size= --inodes --one-file-system --separate-dirs --dereference --count-links --null --files0-from=',
    isOpen: true,
    operands: 'paths',
    pathFlags: ['--files0-from', '--exclude-from', '-X'],
    listFlags: ['--files0-from'],
    readsHere: always,
    followsLinks: isDereferencing,
  },
  // --sync writes back what is cached.
  df: {
    flags:
      '-ahHiklmPT -t= -x= -B= --total --output? --human-readable --local --type= --exclude-type= --inodes --portability --print-type --block-size= --si --all',
  },
  readlink: {
    flags:
      '-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero',
    isOpen: true,
    operands: 'paths',
  },
  realpath: {
    flags:
      '-emLPqsz --relative-to= --relative-base= --no-symlinks --strip --canonicalize-existing --canonicalize-missing --logical --physical --quiet --zero',
    isOpen: true,
    operands: 'paths',
    pathFlags: ['--relative-to', '--relative-base'],
  },
  basename: { flags: '-az -s= --multiple --suffix= --zero', isOpen: true },
  dirname: { flags: '-z --zero', isOpen: true },
  which: { flags: '-as --all', isOpen: true, operands: 'names' },
  whereis: { flags: '-bmsul', isOpen: true },
  namei: { flags: '-lmnovx --long --modes --owners --vertical', isOpen: true, operands: 'paths' },
  lsattr: { flags: '-Radlvp', isOpen: true, operands: 'paths' },
  getfacl: {
    flags: '-acdeEsRLPtpn --access --default --omit-header --recursive --absolute-names --numeric',
    isOpen: true,
    operands: 'paths',
    followsLinks: ({ flags }) => flags.some(({ name }) => name === '-L'),
  },
  zcat: { flags: '-fv', operands: 'paths' },
  bzcat: { flags: '-fs', operands: 'paths' },
  xzcat: { flags: '-fq', operands: 'paths' },
  zstdcat: { flags: '-fqv', operands: 'paths' },
  gzip: UNPACK,
  gunzip: UNPACK,
  bzip2: UNPACK,
  bunzip2: UNPACK,
  xz: UNPACK,
  unxz: UNPACK,
  zstd: { ...UNPACK, flags: '-cdfklqtv --stdout --decompress --list --test --quiet --verbose' },
  tar: { isCoveredWhole: true, judge: (words, facts) => judgeProgram(TAR, dashed(words), facts) },
  unzip: { isCoveredWhole: true, flags: '-lvqtpZ1', check: listsZip, operands: 'paths' },
  zipinfo: { flags: '-12smlvhtzTM', operands: 'paths' },
  // GNU binutils read options from a file that is given as `@file`.
  readelf: refusing(OPTION_FILE, {
    flags:
      '-ahlSsenrdVAuWIt -x= -p= --all --file-header --program-headers --sections --symbols --dyn-syms --headers --notes --relocs --dynamic --version-info --wide --segments --hex-dump= --string-dump=',
    operands: 'paths',
  }),
  nm: refusing(OPTION_FILE, {
    flags:
      '-aACDgnoprSuUv --defined-only --undefined-only --extern-only --demangle? --size-sort --numeric-sort --dynamic --print-size --print-file-name --no-sort --reverse-sort',
    operands: 'paths',
  }),
  objdump: refusing(OPTION_FILE, {
    flags:
      '-dDfhprRstTxCw -M= -j= --disassemble --file-headers --section-headers --all-headers --syms --dynamic-syms --reloc --full-contents --demangle? --section=',
    operands: 'paths',
  }),
  size: refusing(OPTION_FILE, { flags: '-ABdoxt --format= --totals', operands: 'paths' }),
  fd: FD,
  fdfind: FD,
  less: { flags: '-NRSFXinreEMmIswG', operands: 'paths', check: noPagerCommand },
  more: { flags: '-dflcsu', hasNumbers: true, operands: 'paths', check: noPagerCommand },
};

function always(): boolean {
  return true;
}

function isDereferencing({ flags }: ParsedArguments): boolean {
  return flags.some(({ name }) => name === '-L' || name === '--dereference');
}

/** Of testing and unpacking, some do what they were told last. */
function printsUnpacked({ flags }: ParsedArguments): string | undefined {
  const isGiven = (options: RegExp) => flags.some(({ name }) => options.test(name));
  const looksOnly = isGiven(/^(?:-[lt]|--list|--test)$/) && !isGiven(/^(?:-d|--(?:de|un)compress)$/);
  return looksOnly || isGiven(/^(?:-c|--(?:to-)?stdout)$/) ? undefined : 'it replaces the file';
}

/** `tar tzf x` is `tar -tzf x`, as long as only the last letter takes a value. */
function dashed(words: readonly ShellWord[]): readonly ShellWord[] {
  const [first, ...rest] = words;
  if (first?.literal === undefined || !/^[txOvzjJa]+f?$/.test(first.literal)) return words;
  const text = `-${first.literal}`;
  return [{ ...first, text, literal: text, patterns: [text], prefix: text, mayBeFlag: true }, ...rest];
}

function listsArchive({ flags, operands }: ParsedArguments): string | undefined {
  const isGiven = (options: RegExp) => flags.some(({ name }) => options.test(name));
  const isExtracting = isGiven(/^(?:-x|--extract)$/);
  const isListing = isExtracting ? isGiven(/^(?:-O|--to-stdout)$/) : isGiven(/^(?:-t|--list)$/);
  if (!isListing && flags[0]?.name !== '--version') return 'tar does more than list';
  const isLocal = flags.some(({ name }) => name === '--force-local');
  const archives = flags.filter(({ name }) => name === '-f' || name === '--file').map(({ value }) => value);
  const isRemote = archives.some(
    (archive) => archive?.literal === undefined || (archive.literal.includes(':') && !isLocal),
  );
  if (isRemote) return 'the archive may be on another machine';
  return operands.some((operand) => operand.literal === undefined) ? 'an operand may become an option' : undefined;
}

function listsZip({ flags }: ParsedArguments): string | undefined {
  const isListing = flags.some(({ name }) => ['-l', '-v', '-t', '-p', '-Z'].includes(name));
  return isListing ? undefined : 'unzip does more than list';
}

function noPagerCommand({ operands }: ParsedArguments): string | undefined {
  return operands.some((word) => !/^[^+]/.test(word.prefix)) ? 'an operand may be a command to the pager' : undefined;
}
