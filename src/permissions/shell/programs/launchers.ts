/** Programs whose one purpose is to run another one. */
import type { ProgramRecord } from '../program-record.ts';

/** Programs that run another one. */
export const LAUNCHERS: readonly ProgramRecord[] = [
  { names: 'strace sudo parallel', reads: { alone: '--version -V' } },
];
