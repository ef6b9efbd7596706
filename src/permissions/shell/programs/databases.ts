/** Databases and their clients. */
import type { ProgramRecord } from '../program-record.ts';

/** Databases and their clients. */
export const DATABASES: readonly ProgramRecord[] = [
  { names: 'sqlite3', reads: { alone: '--version -version' } },
  { names: 'psql mysql', reads: { alone: '--version -V' } },
  { names: 'redis-cli redis-server', reads: { alone: '--version -v' } },
];
