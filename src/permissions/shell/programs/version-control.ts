/** Programs that keep versions of files. */
import type { ProgramRecord } from '../program-record.ts';
import { GIT } from './git.ts';

/** Programs that keep versions. */
export const VERSION_CONTROL: readonly ProgramRecord[] = [
  { names: 'gh', reads: { alone: '--version' } },
  { names: 'git', reads: GIT, isCoveredWhole: true },
];
