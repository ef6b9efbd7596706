/** Records of all known programs, by name. */
import type { ProgramRecord, SubcommandRecord } from '../program-record.ts';
import { ARCHIVES } from './archives.ts';
import { BUILDERS, DATABASES } from './builders.ts';
import { BUILTINS } from './builtins.ts';
import { BYTES } from './bytes.ts';
import { CLOUD } from './cloud.ts';
import { COMPILERS } from './compilers.ts';
import { EDITORS, VIEWERS } from './editors.ts';
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
  ...[TEXT, BYTES, SEARCH, FILES, ARCHIVES, VIEWERS, BUILTINS, VERSION_CONTROL, SYSTEM, NETWORK, LAUNCHERS],
  ...[INTERPRETERS, COMPILERS, BUILDERS, PACKAGES, CLOUD, DATABASES, EDITORS],
].flat();

const byName = new Map<string, ProgramRecord>();
const plainNames = new Map<string, string>();
for (const record of RECORDS) {
  const aliases = record.aliases?.split(' ') ?? [];
  for (const name of [...record.names.split(' '), ...aliases]) {
    if (byName.has(name)) throw new TypeError(`Program "${name}" has two records`);
    byName.set(name, record);
  }
  for (const alias of aliases) plainNames.set(alias, record.names);
  if (record.standsFor !== undefined) plainNames.set(record.names, record.standsFor);
}

/** Find the record of a program or builtin by its exact name. */
export function findRecord(name: string): ProgramRecord | undefined {
  return byName.get(name);
}

/** Find the record of a program by any of its names: `gsed`, `mawk`, `python3.11`, `git-push`. */
export function recordOf(name: string): ProgramRecord | undefined {
  const record = byName.get(name);
  const other = record ? record.standsFor : plainName(name);
  return other === undefined ? record : byName.get(other);
}

/** Find the record of a sub-command. */
export function subcommandOf(program: string, name: string): SubcommandRecord | undefined {
  const known = recordOf(program)?.subcommands;
  return known && Object.hasOwn(known, name) ? known[name] : undefined;
}

/** Return the name that rules use for a program called by another name; undefined if there is none. */
export function plainName(name: string): string | undefined {
  const known = plainNames.get(name);
  if (known !== undefined || byName.has(name)) return known;
  if (name.startsWith('git-')) return 'git';
  const withoutG = name.startsWith('g') ? name.slice(1) : '';
  if (byName.get(withoutG)?.isGnu === true && !plainNames.has(withoutG)) return withoutG;
  const family = name.slice(0, Math.max(0, name.indexOf('.')));
  if (byName.get(family)?.isFamily === true) return family;
  const [, unversioned = ''] = /\d$/.test(name) ? (/^(.+?)-?\d+(?:\.\d+)*$/.exec(name) ?? []) : [];
  return byName.get(unversioned)?.isVersioned === true ? unversioned : undefined;
}
