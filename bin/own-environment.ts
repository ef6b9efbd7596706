/**
 * The environment of the server: copied, then erased from where the system shows it to other processes.
 *
 * The kernel shows the memory that a process was started with as `/proc/<pid>/environ`, to `ps e` too. Deleting a
 * variable leaves its text there, so the text itself is overwritten. No second process is needed for that, and the
 * server keeps its id, its signals and its streams.
 */
import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/** Fields of `/proc/<pid>/stat`, counted from the one behind the program's name. @see proc(5) */
const STAT = { parent: 1, environmentStart: 47, environmentEnd: 48 } as const;
const TOKEN_VARIABLE = 'GAUNTLET_TOKEN';
/** Ancestors that are looked at; a deeper chain of programs is not met in practice. */
const MAX_ANCESTORS = 32;

/** A process that was started with the token in its environment. */
interface Holder {
  readonly pid: string;
  readonly name: string;
}

/**
 * Copy the environment and erase it from `/proc/self/environ`. `process.env` keeps all but the token.
 *
 * @returns The copy, with the token. Erasing is best effort: `environmentWarnings` says whether it worked.
 */
export function takeEnvironment(): NodeJS.ProcessEnv {
  const environment = { ...process.env };
  try {
    eraseEnvironment();
  } catch {
    // Not Linux, or no access to its own memory: `environmentWarnings` finds the token where it still is.
  }
  delete process.env[TOKEN_VARIABLE];
  return environment;
}

/**
 * Say who still shows a token that came by the environment.
 *
 * @param environment As `takeEnvironment` copied it.
 */
export function environmentWarnings(environment: NodeJS.ProcessEnv): readonly string[] {
  const token = environment[TOKEN_VARIABLE];
  if (!token) return [];
  const fix = 'use GAUNTLET_TOKEN_FILE instead where commands run outside a sandbox';
  if (process.platform !== 'linux' || showsToken('self', token)) {
    return [`${TOKEN_VARIABLE} stays readable in the environment of this process; ${fix}`];
  }
  return tokenHolders(token).map(
    ({ pid, name }) =>
      `${TOKEN_VARIABLE} is readable in the environment of "${name}" (process ${pid}), which started this server; ${fix}`,
  );
}

/** @throws The errno error. */
function eraseEnvironment(): void {
  const region = readFileSync('/proc/self/environ');
  const [start, end] = [STAT.environmentStart, STAT.environmentEnd].map((field) => Number(statField('self', field)));
  if (start === undefined || end === undefined || end - start !== region.length) return;
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    let offset = 0;
    for (const entry of splitEntries(region)) {
      if (moveVariable(entry)) region.fill(0, offset, offset + entry.length);
      offset += entry.length + 1;
    }
    writeSync(memory, region, 0, region.length, start);
  } finally {
    closeSync(memory);
  }
}

/** Set a variable anew, which puts its text elsewhere. @returns Whether its old text may be erased. */
function moveVariable(entry: Buffer): boolean {
  const equals = entry.indexOf('=', 1);
  // Bytes that are no text would not survive being set anew.
  if (equals < 0 || !isUtf8(entry)) return false;
  const name = entry.toString('utf8', 0, equals);
  const value = process.env[name];
  // Deleted first: a C library may keep the old text of a variable whose value does not change.
  delete process.env[name];
  if (value !== undefined) process.env[name] = value;
  return true;
}

function splitEntries(region: Buffer): readonly Buffer[] {
  const entries: Buffer[] = [];
  let start = 0;
  for (let end = region.indexOf(0); end >= 0; end = region.indexOf(0, start)) {
    entries.push(region.subarray(start, end));
    start = end + 1;
  }
  return entries;
}

/** Ancestors that were started with the token: `npm start`, a container's first process. */
function tokenHolders(token: string): readonly Holder[] {
  const holders: Holder[] = [];
  let pid = String(process.ppid);
  for (let looked = 0; looked < MAX_ANCESTORS && Number(pid) > 0; looked += 1) {
    if (showsToken(pid, token)) holders.push({ pid, name: nameOf(pid) });
    pid = parentOf(pid);
  }
  return holders;
}

function showsToken(pid: string, token: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`.includes(`\0${TOKEN_VARIABLE}=${token}\0`);
  } catch {
    // It is closed to this user, and so to the commands, or it has ended.
    return false;
  }
}

function parentOf(pid: string): string {
  try {
    return statField(pid, STAT.parent);
  } catch {
    // It has ended since: nobody holds anything any more.
    return '0';
  }
}

function nameOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    // It has ended since.
    return 'unknown';
  }
}

/** The program's name may hold blanks and parentheses: fields are counted from behind the last one. */
function statField(pid: string, field: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[field] ?? '';
}
