/** Programs that look at files, folders and archives, and that change them. */
import { isGiven, type ParsedArguments } from '../flags.ts';
import type { ProgramRecord } from '../program-record.ts';
import { judgeProgram, type ProgramSpec, refusing } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';

const TAR: ProgramSpec = {
  flags:
    '-txOvzjJa -f= --list --extract --to-stdout --verbose --gzip --bzip2 --xz --zstd --file= --exclude= --wildcards --full-time --numeric-owner --force-local --strip-components=',
  check: listsArchive,
  pathFlags: ['-f', '--file'],
};

/** Compressors replace their file by another, unless they print, list or test. */
const UNPACK: ProgramSpec = {
  flags: '-cdflnqtv --stdout --to-stdout --decompress --uncompress --list --test --quiet --verbose --force',
  operands: 'paths',
  check: printsUnpacked,
};

/** Programs about files. */
export const FILES: readonly ProgramRecord[] = [
  {
    names: 'ls',
    isGnu: true,
    reads: {
      flags:
        '-aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1@eOTW -I= -w= --all --almost-all --author --escape --block-size= --ignore-backups --color? --directory --dired ' +
        '--classify? --file-type --format= --full-time --no-group --group-directories-first --human-readable --si --dereference --dereference-command-line ' +
        '--hide= --hyperlink? --indicator-style= --inode --ignore= --kibibytes --numeric-uid-gid --literal --hide-control-chars --show-control-chars ' +
        '--quote-name --quoting-style= --reverse --recursive --size --sort= --time= --time-style= --tabsize= --width= --context --zero',
      isOpen: true,
      operands: 'paths',
      readsHere: () => true,
      followsLinks: isDereferencing,
    },
  },
  {
    names: 'dir vdir',
    isGnu: true,
    reads: { flags: '-aAbCdFghiklnpQrRsStuUvxX1', isOpen: true, operands: 'paths', readsHere: () => true },
  },
  // -o and the pair -R -H write files.
  // A letter that takes a value takes the next word, and those behind it are options of their own: `-Lo 2 out`.
  {
    names: 'tree',
    reads: refusing(/^-[a-zA-Z]*(?:[IP].|L(?!\d*$))/, {
      flags:
        '-adfilshpugDCnFJXQNqrtUxASvc -L= -I= -P= --dirsfirst --filesfirst --noreport --gitignore --prune --du --si --filelimit= --timefmt= --charset= ' +
        '--matchdirs --ignore-case --sort? --inodes --device --fromfile --metafirst --info',
      operands: 'paths',
      readsHere: () => true,
      followsLinks: ({ flags }) => flags.some(({ name }) => name === '-l'),
    }),
  },
  {
    names: 'stat',
    isGnu: true,
    reads: {
      flags: '-fLtxnqs -c= --format= --printf= --file-system --terse --dereference --cached=',
      isOpen: true,
      operands: 'paths',
    },
  },
  // -C compiles, -z runs decompressors, -p touches times.
  {
    names: 'file',
    reads: {
      flags:
        '-biIkLhNnrsE0v -F= -f= -e= --brief --mime --mime-type --mime-encoding --extension --dereference --no-dereference --no-pad --keep-going --separator= --raw --special-files --print0',
      operands: 'paths',
      pathFlags: ['-f'],
      listFlags: ['-f'],
    },
  },
  {
    names: 'du',
    isGnu: true,
    reads: {
      flags:
        '-abchHklLmPsSxD0 -d= -t= -X= -B= --apparent-size --max-depth= --summarize --human-readable --total --all --bytes --exclude= --exclude-from= --time? ' +
        '--time-style= --threshold= --si --block-size= --inodes --one-file-system --separate-dirs --dereference --count-links --null --files0-from=',
      isOpen: true,
      operands: 'paths',
      pathFlags: ['--files0-from', '--exclude-from', '-X'],
      listFlags: ['--files0-from'],
      readsHere: () => true,
      followsLinks: isDereferencing,
    },
  },
  // --sync writes back what is cached.
  {
    names: 'df',
    isGnu: true,
    reads: {
      flags:
        '-ahHiklmPT -t= -x= -B= --total --output? --human-readable --local --type= --exclude-type= --inodes --portability --print-type --block-size= --si --all',
    },
  },
  {
    names: 'readlink',
    isGnu: true,
    reads: {
      flags:
        '-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero',
      isOpen: true,
      operands: 'paths',
    },
  },
  {
    names: 'realpath',
    isGnu: true,
    reads: {
      flags:
        '-emLPqsz --relative-to= --relative-base= --no-symlinks --strip --canonicalize-existing --canonicalize-missing --logical --physical --quiet --zero',
      isOpen: true,
      operands: 'paths',
      pathFlags: ['--relative-to', '--relative-base'],
    },
  },
  { names: 'basename', isGnu: true, reads: { flags: '-az -s= --multiple --suffix= --zero', isOpen: true } },
  { names: 'dirname', isGnu: true, reads: { flags: '-z --zero', isOpen: true } },
  { names: 'namei', reads: { flags: '-lmnovx --long --modes --owners --vertical', isOpen: true, operands: 'paths' } },
  { names: 'lsattr', reads: { flags: '-Radlvp', isOpen: true, operands: 'paths' } },
  {
    names: 'getfacl',
    reads: {
      flags: '-acdeEsRLPtpn --access --default --omit-header --recursive --absolute-names --numeric',
      isOpen: true,
      operands: 'paths',
      followsLinks: ({ flags }) => flags.some(({ name }) => name === '-L'),
    },
  },
  { names: 'zcat', reads: { flags: '-fv', operands: 'paths' } },
  { names: 'bzcat', reads: { flags: '-fs', operands: 'paths' } },
  { names: 'xzcat', reads: { flags: '-fq', operands: 'paths' } },
  { names: 'zstdcat', reads: { flags: '-fqv', operands: 'paths' } },
  { names: 'gzip gunzip bzip2 bunzip2 xz unxz', reads: UNPACK, isCoveredWhole: true },
  {
    names: 'zstd',
    reads: { ...UNPACK, flags: '-cdfklqtv --stdout --decompress --list --test --quiet --verbose' },
    isCoveredWhole: true,
  },
  {
    names: 'tar',
    isGnu: true,
    reads: { judge: (words, facts) => judgeProgram(TAR, dashed(words), facts) },
    isCoveredWhole: true,
    runsBehind:
      /^(?:-\w*[IF]|--(?:use-compress-program|to-command|info-script|new-volume-script|rsh-command|rmt-command))$/,
  },
  { names: 'unzip', reads: { flags: '-lvqtpZ1', check: listsZip, operands: 'paths' }, isCoveredWhole: true },
  { names: 'zipinfo', reads: { flags: '-12smlvhtzTM', operands: 'paths' } },
  {
    names: 'mktemp',
    isGnu: true,
    reads: {
      flags: '-udqt -p? --dry-run --directory --quiet --suffix= --tmpdir?',
      check: ({ flags }) => (isGiven(flags, '-u', '--dry-run') ? undefined : 'mktemp makes a file'),
    },
    isCoveredWhole: true,
  },
  { names: 'mountpoint', reads: { flags: '-qdx --quiet --nofollow' } },
  {
    names: 'lsblk',
    reads: {
      flags:
        '-abdflmOpPrtiJSnsT -o= -e= -I= -x= --all --bytes --fs --json --list --output= --paths --noheadings --tree? --nodeps',
    },
  },
  { names: 'mount', reads: { flags: '-lv', mostOperands: 0 }, isCoveredWhole: true },
  {
    names: 'findmnt',
    reads: {
      flags: '-lnrJDbfikPRuvyA -t= -o= -T= -S= -M= -O= --list --noheadings --json --output= --target= --types= --df',
    },
  },
  { names: 'zip', reads: { alone: '-v' }, runsBehind: /^(?:-TT|--unzip-command)$/ },
  {
    names:
      'truncate shred rm rmdir unlink cp mv ln link dd install mkdir mkfifo mknod touch sync chmod chown ' + 'chgrp',
    isGnu: true,
  },
];

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
