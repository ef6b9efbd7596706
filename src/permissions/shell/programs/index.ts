/** The record of every program that is known, by name. */
import type { ProgramRecord } from '../program-record.ts';
import { BUILDERS } from './builders.ts';
import { BUILTINS } from './builtins.ts';
import { CLOUD } from './cloud.ts';
import { COMPILERS } from './compilers.ts';
import { DATABASES } from './databases.ts';
import { EDITORS } from './editors.ts';
import { FILES } from './files.ts';
import { INTERPRETERS } from './interpreters.ts';
import { LAUNCHERS } from './launchers.ts';
import { NETWORK } from './network.ts';
import { PACKAGES } from './packages.ts';
import { SEARCH } from './search.ts';
import { SYSTEM } from './system.ts';
import { TEXT } from './text.ts';
import { VERSION_CONTROL } from './version-control.ts';

/** All records, each once. */
export const RECORDS: readonly ProgramRecord[] = [
  ...[TEXT, SEARCH, FILES, BUILTINS, VERSION_CONTROL, SYSTEM, NETWORK, LAUNCHERS],
  ...[INTERPRETERS, COMPILERS, BUILDERS, PACKAGES, CLOUD, DATABASES, EDITORS],
].flat();

const byName = new Map<string, ProgramRecord>();
for (const record of RECORDS)
  for (const name of [record.names, record.aliases].join(' ').trim().split(' ')) {
    if (byName.has(name)) throw new TypeError(`Program "${name}" has two records`);
    byName.set(name, record);
  }

/** Find the record of a program or builtin by one of its names. */
export function findRecord(name: string): ProgramRecord | undefined {
  return byName.get(name);
}
