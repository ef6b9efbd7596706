/** Databases and their clients. */
import type { ProgramRecord } from '../program-record.ts';

/** Databases and their clients. */
export const DATABASES: readonly ProgramRecord[] = [
  {
    names: 'sqlite3',
    reads: { alone: '--version -version' },
    language: 'program',
    writesOperands: 'all',
    readsOperands: 'all',
  },
  { names: 'psql', reads: { alone: '--version -V' }, language: 'program', inlineOptions: /^(?:-c|--command)/ },
  { names: 'mysql', reads: { alone: '--version -V' }, language: 'program', inlineOptions: /^(?:-\w*e|--execute)/ },
  { names: 'redis-cli', reads: { alone: '--version -v' }, suggests: 'nothing' },
  { names: 'redis-server', reads: { alone: '--version -v' } },
  { names: 'mongosh mongo', language: 'program', inlineOptions: /^--eval/ },
  { names: 'mariadb', language: 'program', inlineOptions: /^(?:-\w*e|--execute)/ },
  { names: 'duckdb', language: 'program' },
];
