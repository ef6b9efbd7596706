/** Viewers, editors, terminals and debuggers. */
import type { ParsedArguments } from '../flags.ts';
import type { ProgramRecord } from '../program-record.ts';
import { type ProgramSpec, withRefusedWords } from '../program-spec.ts';

// Excludes --pager, --diff, the sub-command `cache`, and paging, which has no terminal.
const BAT = withRefusedWords(/^--paging(?!=(?:never|auto)$)/, {
  flags:
    '-pnAPuf -l= -r= -H= -m= --plain --number --show-all --language= --line-range= --highlight-line= --style= --theme= --color= --decorations= --paging= --wrap= --tabs= ' +
    '--terminal-width= --file-name= --list-languages --list-themes --squeeze-blank --no-config --no-custom-assets',
  operands: 'paths',
  check: ({ operands }) =>
    operands[0]?.prefix === 'cache' || operands[0]?.prefix === '' ? 'bat may change its cache' : undefined,
});

const WHATIS: ProgramSpec = {
  flags: '-rwl -s= --regex --wildcard --exact --sections=',
  check: namesOnly,
};

/** Programs that display files and media. */
export const VIEWERS: readonly ProgramRecord[] = [
  { names: 'bat batcat', reads: BAT, runsBehind: /^--?pager$/ },
  {
    names: 'less',
    reads: { flags: '-NRSFXinreEMmIswG', operands: 'paths', check: noPagerCommand },
    hiddenText: [{ words: /^(?:-k|--lesskey)/ }],
  },
  { names: 'more', reads: { flags: '-dflcsu', hasNumbers: true, operands: 'paths', check: noPagerCommand } },
  {
    names: 'man',
    reads: { flags: '-kfw -s= --apropos --whatis --where --path --sections=', check: namesOnly },
    isCoveredWhole: true,
    runsBehind: /^(?:-[PH]|--(?:pager|html))$/,
    actingOptions: /^(?:-P.*|-H.*|-C.*|--pager.*|--html.*|--config-file.*)$/,
  },
  { names: 'whatis apropos', reads: WHATIS, isCoveredWhole: true },
  { names: 'ffmpeg ffprobe', reads: { alone: '-version' } },
  { names: 'mpv', hiddenText: [{ words: /^--(?:scripts?|include|input-conf|config-dir)(?:=|$)/ }] },
  { names: 'gs', hiddenText: [{ words: /^-d(?:NOSAFER|DELAYSAFER)/ }] },
  {
    names: 'tex latex pdftex pdflatex xelatex lualatex luatex',
    hiddenText: [{ words: /^--?(?:shell-escape|enable-write18)|^-cnf-line/ }],
  },
];

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
      { words: /^-\w*[sSc]$/, readsCommandsFromInput: true },
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
      { readsCommandsFromInput: true },
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

function noPagerCommand({ operands }: ParsedArguments): string | undefined {
  return operands.some((word) => !/^[^+]/.test(word.prefix)) ? 'an operand may be a command to the pager' : undefined;
}

function namesOnly({ operands }: ParsedArguments): string | undefined {
  return operands.every((word) => word.literal !== undefined && /^\w[\w.+:-]*$/.test(word.literal))
    ? undefined
    : 'an operand may be a file';
}
