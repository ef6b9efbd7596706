/** What makes a command line dangerous, one sentence each, for the person who is asked. */
import { runsPrograms } from './program-facts.ts';
import type { ReachedCommand, ReachedScript } from './reach.ts';

interface Warning {
  readonly test: RegExp;
  readonly sentence: string;
}

/** Tried on each command that may run, its words joined by blanks. */
const WARNINGS: readonly Warning[] = [
  { test: /^rm (?:.* )?(?:-[a-zA-Z]*[rR]|--recursive)/, sentence: 'Deletes folders with everything in them' },
  { test: /^rm (?:.* )?(?:-[a-zA-Z]*f|--force)/, sentence: 'Deletes without asking' },
  { test: /^(?:shred|wipe|srm) /, sentence: 'Deletes files beyond recovery' },
  { test: /^find .*-delete/, sentence: 'Deletes everything that find matches' },
  { test: /^dd (?:.* )?of=/, sentence: 'Overwrites what dd is pointed at' },
  { test: /^(?:mkfs(?:\.\w+)?|wipefs|fdisk|parted|sgdisk|mkswap)(?: |$)/, sentence: 'Changes or formats a disk' },
  { test: /^ch(?:mod|own|grp) (?:.* )?(?:-[a-zA-Z]*R|--recursive)/, sentence: 'Changes the rights of a whole folder' },
  {
    test: /^git push (?:.* )?(?:-[a-zA-Z]*f\b|--force|--mirror|\+)/,
    sentence: 'Overwrites the history of a remote branch',
  },
  { test: /^git push (?:.* )?(?:--delete|-d\b|:)/, sentence: 'Deletes a remote branch' },
  { test: /^git reset (?:.* )?--(?:hard|merge)/, sentence: 'Throws away changes that are not committed' },
  { test: /^git clean (?:.* )?(?:-[a-zA-Z]*f|--force)/, sentence: 'Deletes files that git does not track' },
  {
    test: /^git (?:checkout|restore) (?:.* )?(?:--(?: |$)|\.(?: |$)|-f\b|--force|--worktree)/,
    sentence: 'Throws away changes that are not committed',
  },
  {
    test: /^git (?:branch (?:.* )?-D|stash (?:drop|clear)|reflog (?:expire|delete)|filter-branch|update-ref -d)/,
    sentence: 'Deletes history that may be nowhere else',
  },
  {
    test: /^(?:kill|pkill|killall) (?:.* )?-(?:9|KILL|SIGKILL)/,
    sentence: 'Ends processes without letting them finish',
  },
  { test: /^(?:shutdown|reboot|halt|poweroff|init [06])/, sentence: 'Stops the machine' },
  { test: /^truncate /, sentence: 'Cuts files off' },
  { test: /^(?:sudo|doas|su|pkexec) /, sentence: 'Runs as another user' },
  { test: /^(?:eval|source|\.) /, sentence: 'Runs text as a script' },
  { test: /^(?:npm|yarn|pnpm|cargo|gem|twine|docker|helm) (?:publish|push)/, sentence: 'Publishes to others' },
  {
    test: /^(?:docker|podman) (?:system|volume|image) prune|^kubectl delete|^terraform (?:destroy|apply)/,
    sentence: 'Deletes or changes what others may use',
  },
];

const DOWNLOADERS = /^(?:curl|wget|fetch|https?|xh|aria2c|axel)$/;

/** What gives a command other rights: whatever it is, it should be looked at before it gets what was downloaded. */
const RAISES_RIGHTS = /^(?:sudo|doas|su|pkexec)$/;

/** All warnings for a command line, each once. */
export function commandWarnings(command: string, { commands }: ReachedScript): readonly string[] {
  const found = new Set<string>();
  for (const { texts } of commands.flatMap(({ readings }) => readings)) {
    for (const text of texts) {
      for (const { test, sentence } of WARNINGS) if (test.test(text)) found.add(sentence);
    }
  }
  if (runsDownload(commands)) found.add('Runs what it downloads');
  if (/>\s*\/dev\/(?:sd|nvme|hd|vd|disk|mmcblk)/.test(command)) found.add('Overwrites a disk');
  if (/:\s*\(\)\s*\{.*:\s*\|\s*:/.test(command)) found.add('Starts processes without end');
  return [...found];
}

/** Whether one command downloads and another one runs text: `curl x | sudo ash`, `wget x -O y; python3.11 y`. */
function runsDownload(commands: readonly ReachedCommand[]): boolean {
  const programs = commands.map(({ readings }) =>
    readings.flatMap(({ launched }) => launched.commands.map(([program = '']) => program)),
  );
  const download = programs.findIndex((names) => names.some((name) => DOWNLOADERS.test(name)));
  const isRunning = (name: string) =>
    runsPrograms(name) || RAISES_RIGHTS.test(name) || /^(?:eval|source|\.)$/.test(name);
  return download >= 0 && programs.some((names, at) => at !== download && names.some(isRunning));
}
