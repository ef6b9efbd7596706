/**
 * The environment of the server: copied, then erased from where the system shows it to other processes.
 *
 * The kernel exposes a process's initial memory as `/proc/<pid>/environ`, and so to `ps e`. Deleting a variable leaves
 * its text there, so the text itself is overwritten. That needs no second process, and the server keeps its id, its
 * signals and its streams.
 */
import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/** Fields of `/proc/<pid>/stat`, counted from the one after the program's name. @see proc(5) */
const STAT = { parent: 1, environmentStart: 47, environmentEnd: 48 } as const;
const TOKEN_VARIABLE = 'GAUNTLET_TOKEN';
/** Ancestors that are checked; deeper chains of processes do not occur in practice. */
const MAX_ANCESTORS = 32;

/** A process that was started with the token in its environment. */
interface Holder {
  readonly pid: string;
  readonly name: string;
}

/**
 * Copy the environment and erase it from `/proc/self/environ`. `process.env` keeps everything except the token.
 *
 * @returns The copy, with the token. Erasing is best effort: `environmentWarnings` reports a failure.
 */
export function takeEnvironment(): NodeJS.ProcessEnv {
  const environment = { ...process.env };
  try {
    eraseEnvironment();
  } catch {
    // Not Linux, or no access to its own memory: `environmentWarnings` finds the token that remains.
  }
  delete process.env[TOKEN_VARIABLE];
  return environment;
}

/**
 * List the processes that still expose a token passed in the environment.
 *
 * @param environment The copy from `takeEnvironment`.
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

/** Set a variable again, which stores its text elsewhere. @returns True if its old text may be erased. */
function moveVariable(entry: Buffer): boolean {
  const equals = entry.indexOf('=', 1);
  // Bytes that are not UTF-8 would be changed by setting them again.
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

/** Find ancestors that were started with the token: `npm start`, a container's first process. */
function tokenHolders(token: string): readonly Holder[] {
  const holders: Holder[] = [];
  let pid = String(process.ppid);
  for (let depth = 0; depth < MAX_ANCESTORS && Number(pid) > 0; depth += 1) {
    if (showsToken(pid, token)) holders.push({ pid, name: nameOf(pid) });
    pid = parentOf(pid);
  }
  return holders;
}

function showsToken(pid: string, token: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`.includes(`\0${TOKEN_VARIABLE}=${token}\0`);
  } catch {
    // This user, and so the commands, may not read it, or the process has ended.
    return false;
  }
}

function parentOf(pid: string): string {
  try {
    return statField(pid, STAT.parent);
  } catch {
    // The process has ended.
    return '0';
  }
}

function nameOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    // The process has ended.
    return 'unknown';
  }
}

/** Read a field. The program's name may contain spaces and parentheses, so fields are counted after the last one. */
function statField(pid: string, field: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[field] ?? '';
}
