/** Programs that examine and change files and folders. */
import { isGiven, type ParsedArguments } from '../flags.ts';
import type { ProgramRecord } from '../program-record.ts';
import { withRefusedWords } from '../program-spec.ts';

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
    isMetadataOnly: true,
    lists: { flags: '-1AdtrSUXvcuB --almost-all --directory --reverse --sort=', operands: 'paths', printsHere: true },
  },
  {
    names: 'dir vdir',
    isGnu: true,
    reads: { flags: '-aAbCdFghiklnpQrRsStuUvxX1', isOpen: true, operands: 'paths', readsHere: () => true },
    isMetadataOnly: true,
  },
  // -o and the pair -R -H write files. A letter that takes a value takes the next word, and the letters behind it are
  // separate options: `-Lo 2 out`.
  {
    names: 'tree',
    reads: withRefusedWords(/^-[a-zA-Z]*(?:[IP].|L(?!\d*$))/, {
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
    isMetadataOnly: true,
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
    isMetadataOnly: true,
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
  // --sync flushes caches to the disk.
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
    isMetadataOnly: true,
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
    isMetadataOnly: true,
  },
  { names: 'basename', isGnu: true, reads: { flags: '-az -s= --multiple --suffix= --zero', isOpen: true } },
  { names: 'dirname', isGnu: true, reads: { flags: '-z --zero', isOpen: true } },
  {
    names: 'namei',
    reads: { flags: '-lmnovx --long --modes --owners --vertical', isOpen: true, operands: 'paths' },
    isMetadataOnly: true,
  },
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
  {
    names: 'mktemp',
    isGnu: true,
    reads: {
      flags: '-udqt -p? --dry-run --directory --quiet --suffix= --tmpdir?',
      check: ({ flags }) => (isGiven(flags, '-u', '--dry-run') ? undefined : 'mktemp makes a file'),
    },
    isCoveredWhole: true,
    writesOperands: 'all',
  },
  { names: 'mountpoint', reads: { flags: '-qdx --quiet --nofollow' } },
  {
    names: 'lsblk',
    reads: {
      flags:
        '-abdflmOpPrtiJSnsT -o= -e= -I= -x= --all --bytes --fs --json --list --output= --paths --noheadings --tree? --nodeps',
    },
  },
  {
    names: 'mount',
    reads: { flags: '-lv', maxOperands: 0 },
    isCoveredWhole: true,
    writesOperands: 'all',
    suggests: 'nothing',
  },
  {
    names: 'findmnt',
    reads: {
      flags: '-lnrJDbfikPRuvyA -t= -o= -T= -S= -M= -O= --list --noheadings --json --output= --target= --types= --df',
    },
  },
  {
    names: 'truncate',
    isGnu: true,
    writesOperands: 'all',
    warnings: [{ words: /./, sentence: 'Cuts files off' }],
    suggests: 'nothing',
  },
  {
    names: 'shred',
    isGnu: true,
    writesOperands: 'all',
    warnings: [{ words: /./, sentence: 'Deletes files beyond recovery' }],
    suggests: 'nothing',
  },
  {
    names: 'rm',
    isGnu: true,
    writesOperands: 'all',
    wholeTreeOptions: /^(?:-[a-zA-Z]*[rR]|--recursive$)/,
    warnings: [
      { words: /^(?:.* )?(?:-[a-zA-Z]*[rR]|--recursive)/, sentence: 'Deletes folders with everything in them' },
      { words: /^(?:.* )?(?:-[a-zA-Z]*f|--force)/, sentence: 'Deletes without asking' },
    ],
    suggests: 'nothing',
  },
  { names: 'rmdir', isGnu: true, writesOperands: 'all', suggests: 'nothing' },
  { names: 'unlink link mkdir mkfifo mknod touch', isGnu: true, writesOperands: 'all' },
  {
    names: 'cp',
    isGnu: true,
    writesOperands: 'last',
    readsOperands: 'others',
    wholeTreeOptions: /^(?:-[a-zA-Z]*[rRa]|--(?:recursive|archive)$)/,
  },
  { names: 'mv', isGnu: true, writesOperands: 'all', readsOperands: 'others', wholeTreeOptions: /(?:)/ },
  { names: 'ln install', isGnu: true, writesOperands: 'last', readsOperands: 'others' },
  {
    names: 'dd',
    isGnu: true,
    warnings: [{ words: /^(?:.* )?of=/, sentence: 'Overwrites what dd is pointed at' }],
    suggests: 'nothing',
  },
  { names: 'sync', isGnu: true },
  {
    names: 'chmod chown',
    isGnu: true,
    writesOperands: 'all',
    wholeTreeOptions: /^(?:-[a-zA-Z]*R|--recursive$)/,
    warnings: [{ words: /^(?:.* )?(?:-[a-zA-Z]*R|--recursive)/, sentence: 'Changes the rights of a whole folder' }],
    suggests: 'nothing',
  },
  {
    names: 'chgrp',
    isGnu: true,
    writesOperands: 'all',
    warnings: [{ words: /^(?:.* )?(?:-[a-zA-Z]*R|--recursive)/, sentence: 'Changes the rights of a whole folder' }],
  },
  {
    names: 'mkfs',
    isFamily: true,
    warnings: [{ words: /^/, sentence: 'Changes or formats a disk' }],
    suggests: 'nothing',
  },
  { names: 'chattr setfacl rename', writesOperands: 'all' },
  { names: 'wipe srm', warnings: [{ words: /./, sentence: 'Deletes files beyond recovery' }] },
  { names: 'wipefs fdisk parted sgdisk mkswap', warnings: [{ words: /^/, sentence: 'Changes or formats a disk' }] },
  { names: 'umount', suggests: 'nothing' },
];

function isDereferencing({ flags }: ParsedArguments): boolean {
  return flags.some(({ name }) => name === '-L' || name === '--dereference');
}
