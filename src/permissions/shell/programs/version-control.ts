/** Programs that keep versions of files. */
import type { ProgramRecord } from '../program-record.ts';
import { GIT } from './git.ts';

const MESSAGE_OPTIONS = /^(?:-[a-z]*m|--(?:message|title|body|notes|description))$/;

/** Programs that keep versions. */
export const VERSION_CONTROL: readonly ProgramRecord[] = [
  {
    names: 'gh',
    reads: { alone: '--version' },
    hasOperandsBehindDashes: true,
    valueOptions: '-R --repo',
    messageOptions: MESSAGE_OPTIONS,
  },
  {
    names: 'git',
    reads: GIT,
    isCoveredWhole: true,
    commandGroup: { words: /^(?:lfs|subtree)$/, length: 1 },
    runsBehind:
      /^(?:foreach|run|-[xO]|--(?:exec|extcmd|open-files-in-pager|upload-pack|receive-pack)|--(?:tree|index|msg|env|parent|commit|tag-name)-filter)$/,
    hasOperandsBehindDashes: true,
    valueOptions: '-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source',
    messageOptions: MESSAGE_OPTIONS,
    hiddenText: [
      { command: /^(?:mergetool|difftool|citool|gui|instaweb|send-email|hook|web--browse|help--browse)$/ },
      {
        words:
          /^--(?:ext-diff|textconv|filters)$|^(?:-c|--config-env=)?[\w.-]+\.(?:pager|editor|cmd|command|textconv|driver|clean|smudge|process|helper|program|external|askpass|sshcommand|fsmonitor|gitproxy|path)=.*\//i,
      },
    ],
  },
  { names: 'svn', runsBehind: /^--(?:diff-cmd|diff3-cmd|editor-cmd)$/ },
  {
    names: 'hg',
    messageOptions: MESSAGE_OPTIONS,
    hiddenText: [{ words: /^(?:--config=)?(?:extensions|hooks|pager|ui|merge-tools|diff-tools|extdiff)\.\S+=/ }],
  },
  { names: 'hub', standsFor: 'git' },
];
