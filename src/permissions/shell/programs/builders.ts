/** Builders, and runners of tasks and tests: what they run stands in files of the project. */
import type { ProgramRecord } from '../program-record.ts';

/** Builders and runners. */
export const BUILDERS: readonly ProgramRecord[] = [
  { names: 'make eslint prettier vitest', reads: { alone: '--version -v' } },
  { names: 'cmake ninja black', reads: { alone: '--version' } },
  { names: 'ruff mypy', reads: { alone: '--version -V' } },
];
