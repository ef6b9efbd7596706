/** Shells and languages: programs that run text from a file, from their words or from their input. */
import type { ProgramRecord } from '../program-record.ts';

/** Shells and languages. */
export const INTERPRETERS: readonly ProgramRecord[] = [
  { names: 'node', aliases: 'nodejs', reads: { alone: '--version -v' } },
  { names: 'deno', reads: { alone: '--version -V' } },
  { names: 'tsc perl', reads: { alone: '--version -v' } },
  { names: 'python', aliases: 'python2 python3', reads: { alone: '--version -V -VV' } },
  { names: 'lua', reads: { alone: '-v' } },
  { names: 'java', reads: { alone: '-version --version' } },
  { names: 'kotlinc', reads: { alone: '-version' } },
  { names: 'bash sh zsh fish ghc', reads: { alone: '--version' } },
];
