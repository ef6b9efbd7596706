/** Version control systems and clients of code hosts. */
import type { ProgramRecord } from '../program-record.ts';
import { GIT } from './git.ts';

const MESSAGE_OPTIONS = /^(?:-[a-z]*m|--(?:message|title|body|notes|description))$/;

/** Records of version control programs. */
export const VERSION_CONTROL: readonly ProgramRecord[] = [
  {
    names: 'gh',
    reads: { alone: '--version' },
    hasOperandsBehindDashes: true,
    valueOptions: '-R --repo',
    messageOptions: MESSAGE_OPTIONS,
    hasUnrelatedWriteOptions: true,
    suggests: 'subcommand',
  },
  {
    names: 'git',
    reads: GIT,
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
    actingOptions:
      /^(?:-C.*|-c.*|--exec-path.*|--git-dir.*|--work-tree.*|--namespace.*|--config-env.*|--output(?:=.*)?|--ext-diff|--textconv|--upload-pack.*|--receive-pack.*|--open-files-in-pager.*|-O.*|--exec(?:=.*)?)$/,
    changingCommands: /^(?:(?:checkout|restore|rm|mv|clean|stash|clone|init)\b|(?:worktree|submodule) add$)/,
    hasUnrelatedWriteOptions: true,
    warnings: [
      {
        words: /^push (?:.* )?(?:-[a-zA-Z]*f\b|--force|--mirror|\+)/,
        sentence: 'Overwrites the history of a remote branch',
      },
      { words: /^push (?:.* )?(?:--delete|-d\b|:)/, sentence: 'Deletes a remote branch' },
      { words: /^reset (?:.* )?--(?:hard|merge)/, sentence: 'Throws away changes that are not committed' },
      { words: /^clean (?:.* )?(?:-[a-zA-Z]*f|--force)/, sentence: 'Deletes files that git does not track' },
      {
        words: /^(?:checkout|restore) (?:.* )?(?:--(?: |$)|\.(?: |$)|-f\b|--force|--worktree)/,
        sentence: 'Throws away changes that are not committed',
      },
      {
        words: /^(?:branch (?:.* )?-D|stash (?:drop|clear)|reflog (?:expire|delete)|filter-branch|update-ref -d)/,
        sentence: 'Deletes history that may be nowhere else',
      },
    ],
    suggests: 'subcommand',
    subcommands: {
      'ls-files': {
        lists: {
          flags:
            '-cdmoz -x= --cached --deleted --modified --others --exclude= --exclude-standard --full-name --deduplicate',
          operands: 'paths',
          printsHere: true,
        },
      },
      diff: {
        lists: {
          flags: '-z --name-only --cached --staged --diff-filter= --no-renames --relative --merge-base',
          operands: 'paths',
          needs: ['--name-only'],
          printsHere: true,
        },
        answers: { 1: 'the files differ' },
      },
      'diff-tree': {
        lists: {
          flags: '-rz --no-commit-id --name-only --diff-filter= --root',
          operands: 'paths',
          needs: ['--no-commit-id'],
          printsHere: true,
        },
      },
      'ls-tree': {
        lists: { flags: '-rtdz --name-only --full-name', operands: 'paths', needs: ['--name-only'], printsHere: true },
      },
      grep: {
        lists: {
          flags: '-lLiwEFPGz -e= --files-with-matches --name-only --ignore-case --cached --untracked',
          operands: 'pattern',
          patternFlags: ['-e'],
          needs: ['-l', '-L', '--files-with-matches', '--name-only'],
          printsHere: true,
        },
        answers: { 1: 'no matches found' },
      },
      commit: { letters: { n: 'no-verify', a: 'all' } },
      branch: { letters: { d: 'delete' } },
      push: { letters: { d: 'delete' } },
    },
  },
  { names: 'svn', runsBehind: /^--(?:diff-cmd|diff3-cmd|editor-cmd)$/ },
  {
    names: 'hg',
    messageOptions: MESSAGE_OPTIONS,
    hiddenText: [{ words: /^(?:--config=)?(?:extensions|hooks|pager|ui|merge-tools|diff-tools|extdiff)\.\S+=/ }],
  },
  { names: 'hub', standsFor: 'git' },
];
