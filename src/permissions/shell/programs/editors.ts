/** Editors, terminals and debuggers. */
import type { ProgramRecord } from '../program-record.ts';

/** Editors, terminals and debuggers. */
export const EDITORS: readonly ProgramRecord[] = [
  { names: 'vim nvim emacs', reads: { alone: '--version' } },
  { names: 'tmux', reads: { alone: '-V' } },
  { names: 'gdb', reads: { alone: '--version -v' } },
  { names: 'nano', reads: { alone: '--version -V' } },
];
