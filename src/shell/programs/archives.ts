/** Archivers and compressors. */
import type { ParsedArguments } from '../flags.ts';
import type { ProgramRecord } from '../program-record.ts';
import { judgeProgram, type ProgramSpec } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';

const TAR: ProgramSpec = {
  flags:
    '-txOvzjJa -f= --list --extract --to-stdout --verbose --gzip --bzip2 --xz --zstd --file= --exclude= --wildcards --full-time --numeric-owner --force-local --strip-components=',
  check: listsArchive,
  pathFlags: ['-f', '--file'],
};

/** Compressors replace their file unless they print, list or test. */
const UNPACK: ProgramSpec = {
  flags: '-cdflnqtv --stdout --to-stdout --decompress --uncompress --list --test --quiet --verbose --force',
  operands: 'paths',
  check: printsUnpacked,
};

/** Programs about archives. */
export const ARCHIVES: readonly ProgramRecord[] = [
  { names: 'zcat', reads: { flags: '-fv', operands: 'paths' } },
  { names: 'bzcat', reads: { flags: '-fs', operands: 'paths' } },
  { names: 'xzcat', reads: { flags: '-fq', operands: 'paths' } },
  { names: 'zstdcat', reads: { flags: '-fqv', operands: 'paths' } },
  { names: 'gzip gunzip bzip2 bunzip2 xz unxz', reads: UNPACK, isCoveredWhole: true, writesOperands: 'all' },
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
    actingOptions:
      /^(?:--checkpoint-action.*|--to-command.*|--use-compress-program.*|-I.*|-F.*|--info-script.*|--new-volume-script.*|--rsh-command.*|--rmt-command.*|--absolute-names|-P)$/,
    readsOperands: 'all',
    changesInPlace: /^(?:-?[a-zA-Z]*x[a-zA-Z]*|--(?:extract|get))$/,
    isExtractor: true,
    wholeTreeOptions: /^(?:-[a-zA-Z]*c|--create$)/,
    suggests: 'nothing',
  },
  {
    names: 'unzip',
    reads: { flags: '-lvqtpZ1', check: listsZip, operands: 'paths' },
    isCoveredWhole: true,
    writesOperands: 'all',
  },
  { names: 'zipinfo', reads: { flags: '-12smlvhtzTM', operands: 'paths' } },
  {
    names: 'zip',
    reads: { alone: '-v' },
    runsBehind: /^(?:-TT|--unzip-command)$/,
    writesOperands: 'first',
    readsOperands: 'all',
    wholeTreeOptions: /^(?:-[a-zA-Z]*r|--recurse-paths$)/,
  },
  {
    names: 'bsdtar',
    readsOperands: 'all',
    changesInPlace: /^(?:-?[a-zA-Z]*x[a-zA-Z]*|--(?:extract|get))$/,
    isExtractor: true,
    wholeTreeOptions: /^(?:-[a-zA-Z]*c|--create$)/,
  },
  { names: '7z rar cpio', readsOperands: 'all' },
];

/**
 * Reject invocations that replace the file. If both testing and unpacking are given, some versions obey the last one.
 */
function printsUnpacked({ flags }: ParsedArguments): string | undefined {
  const isGiven = (options: RegExp) => flags.some(({ name }) => options.test(name));
  const looksOnly = isGiven(/^(?:-[lt]|--list|--test)$/) && !isGiven(/^(?:-d|--(?:de|un)compress)$/);
  return looksOnly || isGiven(/^(?:-c|--(?:to-)?stdout)$/) ? undefined : 'it replaces the file';
}

/** Rewrite `tar tzf x` as `tar -tzf x`, if only the last letter takes a value. */
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
