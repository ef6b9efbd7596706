/** Editors, terminals and debuggers. */
import type { ProgramRecord } from '../program-record.ts';

/** Options and commands by which vi and debuggers read a script. */
const SCRIPTS: ProgramRecord['hiddenText'] = [
  {
    words:
      /^(?:-[SsuxlT]|--(?:command|script|load|batch-script)(?:=.*)?)$|^(?:--?cmd=|\+|:)*(?:so|source|ru|runtime|luafile|py3?file|rubyfile)!?\s/,
  },
];

/** Editors, terminals and debuggers. */
export const EDITORS: readonly ProgramRecord[] = [
  {
    names: 'vim nvim',
    reads: { alone: '--version' },
    language: 'text',
    hiddenText: SCRIPTS,
    writesOperands: 'all',
    readsOperands: 'all',
  },
  {
    names: 'emacs',
    reads: { alone: '--version' },
    language: 'text',
    hiddenText: [{ words: /^(?:-[lfx]|-?-(?:eval|execute|funcall|load|script|batch-script))(?:=|$)/ }],
    writesOperands: 'all',
    readsOperands: 'all',
  },
  { names: 'tmux', reads: { alone: '-V' }, isLauncher: true, hiddenText: [{ words: /^-[cf]$|^source(?:-file)?$/ }] },
  {
    names: 'gdb',
    reads: { alone: '--version -v' },
    isLauncher: true,
    language: 'text',
    hiddenText: SCRIPTS,
  },
  { names: 'nano', reads: { alone: '--version -V' }, writesOperands: 'all', readsOperands: 'all' },
  { names: 'screen', isLauncher: true, hiddenText: [{ words: /^-[cf]$|^source(?:-file)?$/ }] },
  { names: 'xinit startx dtach abduco kitty foot', isLauncher: true },
  {
    names:
      'xterm uxterm lxterm rxvt urxvt st alacritty konsole gnome-terminal mate-terminal xfce4-terminal ' +
      'lxterminal terminator tilix qterminal sakura termite aterm eterm mlterm x-terminal-emulator ' +
      'cool-retro-term guake tilda',
    runsBehind: /^(?:-[ex]|--(?:command|execute))$/,
  },
  { names: 'i3-msg swaymsg hyprctl', runsBehind: /^exec$/ },
  {
    names: 'vi',
    language: 'text',
    hiddenText: SCRIPTS,
    writesOperands: 'all',
    readsOperands: 'all',
  },
  {
    names: 'view lldb',
    language: 'text',
    hiddenText: SCRIPTS,
  },
  {
    names: 'ex',
    language: 'text',
    hiddenText: [
      {
        words:
          /^(?:-[SsuxlT]|--(?:command|script|load|batch-script)(?:=.*)?)$|^(?:--?cmd=|\+|:)*(?:so|source|ru|runtime|luafile|py3?file|rubyfile)!?\s/,
      },
      { words: /^-\w*[sSc]$/, isFed: true },
    ],
    writesOperands: 'all',
    readsOperands: 'all',
  },
  {
    names: 'ed',
    language: 'text',
    hiddenText: [
      {
        words:
          /^(?:-[SsuxlT]|--(?:command|script|load|batch-script)(?:=.*)?)$|^(?:--?cmd=|\+|:)*(?:so|source|ru|runtime|luafile|py3?file|rubyfile)!?\s/,
      },
      { isFed: true },
    ],
    writesOperands: 'all',
    readsOperands: 'all',
  },
  {
    names: 'emacsclient',
    hiddenText: [{ words: /^(?:-[lfx]|-?-(?:eval|execute|funcall|load|script|batch-script))(?:=|$)/ }],
  },
  { names: 'byobu', hiddenText: [{ words: /^-[cf]$|^source(?:-file)?$/ }] },
  { names: 'code', writesOperands: 'all', readsOperands: 'all' },
];
