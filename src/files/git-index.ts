/**
 * Reads git's index for entries that are folders, since git starts itself again in the repositories of sub-modules;
 * reads settings files and their includes.
 *
 * Format: Documentation/gitformat-index.txt of git, versions 2 to 4.
 */
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { GauntletError } from '../base/errors.ts';
import { showText } from '../base/hidden-characters.ts';
import { type GitSetting, parseGitConfig } from './git-config.ts';
import { readSmallFile } from './open-checked.ts';
import { resolveRealPath } from './real-path.ts';

const INCLUDE = /^include(?:if\..*)?\.path$/s;

const MAX_CONFIG_BYTES = 1_048_576;

/** Deepest chain of includes that git follows. */
const MAX_INCLUDE_DEPTH = 10;

export const MAX_CONFIG_FILES = 64;

/** Characters of a setting quoted in a message. */
const SHOWN_CHARS = 80;

/** Folders among the entries of an index. */
export interface IndexedFolders {
  /** Work trees of sub-modules, relative to that of the repository. */
  readonly submodules: readonly string[];
  /** Folders of a sparse index, whose entries are only in git's objects. */
  readonly unlisted: readonly string[];
}

/** Upper bound of the folders of an index that are inspected, at some 25 µs each. */
export const MAX_INDEXED_FOLDERS = 2_000;

const HEADER_BYTES = 12;

/** Times, numbers and sizes of the file, before the object's id; includes its mode. */
const STAT_BYTES = 40;

const MODE_OFFSET = 24;

const SUBMODULE_MODE = 0o160000;

const FOLDER_MODE = 0o040000;

const EXTENDED_FLAG = 0x4000;

/** From this length on, the name ends at its NUL. */
const MAX_COUNTED_NAME = 0xfff;

/** Longest path of common systems. */
const MAX_NAME_BYTES = 4_096;

/**
 * List the folders among the entries of an index.
 *
 * @param idBytes Length of an object id: 20 for SHA-1, 32 for SHA-256.
 * @returns undefined if it is not an index of a known version, ends too soon, or has too many folders.
 */
export function indexedFolders(index: Buffer, idBytes: number): IndexedFolders | undefined {
  const submodules: string[] = [];
  const unlisted: string[] = [];
  if (index.length < HEADER_BYTES || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  /** Buffer of the previous name: version 4 stores each name as its difference from the one before. */
  let names: Buffer = Buffer.alloc(MAX_COUNTED_NAME);
  let nameBytes = 0;
  let at = HEADER_BYTES;
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + STAT_BYTES + idBytes;
    if (flagsAt + 4 > index.length) return undefined;
    const flags = index.readUInt16BE(flagsAt);
    const nameAt = flagsAt + (version >= 3 && (flags & EXTENDED_FLAG) !== 0 ? 4 : 2);
    const mode = index.readUInt32BE(at + MODE_OFFSET);
    const isFolder = mode === SUBMODULE_MODE || mode === FOLDER_MODE;
    let end: number;
    if (version === 4) {
      const kept = readOffset(index, nameAt);
      end = kept ? index.indexOf(0, kept.end) : -1;
      if (!kept || end < 0 || kept.value > nameBytes) return undefined;
      // The end of the previous name is cut off; the rest is the start of this one.
      const start = nameBytes - kept.value;
      nameBytes = start + end - kept.end;
      if (nameBytes > names.length) names = Buffer.concat([names, Buffer.alloc(nameBytes)]);
      index.copy(names, start, kept.end, end);
      at = end + 1;
    } else {
      const length = flags & MAX_COUNTED_NAME;
      end = length < MAX_COUNTED_NAME ? nameAt + length : index.indexOf(0, nameAt + MAX_COUNTED_NAME);
      if (end < nameAt || end >= index.length) return undefined;
      at += (end - at + 8) & ~7;
    }
    if (!isFolder) continue;
    const name = version === 4 ? names.subarray(0, nameBytes) : index.subarray(nameAt, end);
    if (name.length > MAX_NAME_BYTES || submodules.length + unlisted.length === MAX_INDEXED_FOLDERS) return undefined;
    const path = name.toString('utf8');
    // A split index keeps the name of such an entry in its shared part, and not every name is valid UTF-8.
    if (path === '' || !Buffer.from(path).equals(name)) return undefined;
    (mode === SUBMODULE_MODE ? submodules : unlisted).push(path);
  }
  return { submodules, unlisted };
}

/** Read a variable-length number as in packs: seven bits a byte, the highest first, adding one at each step. */
function readOffset(bytes: Buffer, start: number): { readonly value: number; readonly end: number } | undefined {
  let value = -1;
  for (let at = start; at < bytes.length && value < 0xff_ffff; at++) {
    const byte = bytes[at] ?? 0;
    value = (value + 1) * 128 + (byte & 127);
    if (byte < 128) return { value, end: at + 1 };
  }
  return undefined;
}

/** Number of settings files that may still be read. */
export interface ConfigBudget {
  configFiles: number;
}

/** A setting with the file that contains it. */
export interface LocatedSetting extends GitSetting {
  readonly file: string;
}

/** Read the settings of a file and of its includes, whatever their condition. @throws {GauntletError} */
export function readSettings(file: string, budget: ConfigBudget, depth = MAX_INCLUDE_DEPTH): readonly LocatedSetting[] {
  const text = readText(file, MAX_CONFIG_BYTES);
  if (text === undefined) return [];
  if (--budget.configFiles < 0) throw undeterminedError(`Cannot read more than ${MAX_CONFIG_FILES} files of settings`);
  const settings = parseGitConfig(text);
  if (!settings) throw undeterminedError(`Cannot understand the settings in "${showText(file)}"`);
  return settings.flatMap((setting) => {
    const { value } = setting;
    const located = { ...setting, file };
    if (!isInclude(setting) || value === undefined) return [located];
    if (depth === 0) throw undeterminedError(`Cannot follow the includes of "${showText(file)}"`);
    return [located, ...readSettings(expandHome(value, dirname(file), file), budget, depth - 1)];
  });
}

/** Report whether a setting includes another settings file. */
export function isInclude({ name }: GitSetting): boolean {
  return INCLUDE.test(name);
}

/**
 * Resolve the path in a setting.
 *
 * @throws {GauntletError} For `~user`, `%(prefix)`, and syntax of later versions, which only git can resolve.
 */
export function expandHome(value: string, folder: string, file: string): string {
  if (/^(?:~[^/]|%\(|:\()/.test(value))
    throw undeterminedError(`Cannot follow "${showShort(value)}" in "${showText(file)}"`);
  return value.startsWith('~') ? join(homedir(), value.slice(1)) : resolve(folder, value);
}

/** Resolve a real path, with its stats. @throws {GauntletError} If the path cannot be resolved. */
export function realPath(path: string) {
  const found = resolveRealPath(path);
  if ('refusal' in found) throw undeterminedError(`Cannot look at "${showText(path)}": ${showText(found.refusal)}`);
  return found;
}

/** Read a file as text. @returns undefined if it does not exist. @throws {GauntletError} */
export function readText(path: string, maxBytes: number): string | undefined {
  return readBytes(path, maxBytes)?.toString('utf8');
}

/** Read a file. @returns undefined if it does not exist. @throws {GauntletError} If it cannot be read completely. */
export function readBytes(path: string, maxBytes: number): Buffer | undefined {
  const { real, stats } = realPath(path);
  return stats === undefined ? undefined : readSmallFile(real, showText(path), maxBytes);
}

/** Create the error for a state in which git's behavior cannot be predicted. */
export function undeterminedError(message: string): GauntletError {
  return new GauntletError('tool_failed', message);
}

/** Shorten a text for a message. */
export function showShort(text: string): string {
  return showText(text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text);
}
