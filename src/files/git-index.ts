/**
 * Entries of git's index that are no files: git starts itself again in the repositories of sub-modules.
 *
 * Format: Documentation/gitformat-index.txt of git, versions 2 to 4.
 */

/** Folders that an index names. */
export interface IndexedFolders {
  /** Work trees of sub-modules, relative to that of the repository. */
  readonly submodules: readonly string[];
  /** Folders of a sparse index, whose entries only git's objects list. */
  readonly unlisted: readonly string[];
}

/** Folders of an index that are told: each is looked at, at some 25 µs. */
export const MAX_INDEXED_FOLDERS = 2_000;

const HEADER_BYTES = 12;
/** Times, numbers and sizes of the file, before the object's id; its mode is among them. */
const STAT_BYTES = 40;
const MODE_OFFSET = 24;
const SUBMODULE_MODE = 0o160000;
const FOLDER_MODE = 0o040000;
const EXTENDED_FLAG = 0x4000;
/** A name of this length or more is only ended by its NUL. */
const MAX_COUNTED_NAME = 0xfff;
/** No path of a system is longer. */
const MAX_NAME_BYTES = 4_096;

/**
 * Read the folders that an index names.
 *
 * @param idBytes Of an object's id: 20 for SHA-1, 32 for SHA-256.
 * @returns undefined for what is no index of a known version, ends too soon, or names too many folders.
 */
export function indexedFolders(index: Buffer, idBytes: number): IndexedFolders | undefined {
  const submodules: string[] = [];
  const unlisted: string[] = [];
  if (index.length < HEADER_BYTES || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  /** Version 4 says how each name differs from the one before: both stand here, one after the other. */
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
      // What the name before it ends with is cut off; the rest is the beginning of this one.
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
    // A split index names such an entry in its other half, and not every name is text.
    if (path === '' || !Buffer.from(path).equals(name)) return undefined;
    (mode === SUBMODULE_MODE ? submodules : unlisted).push(path);
  }
  return { submodules, unlisted };
}

/** A number as packs write it: seven bits a byte, the highest first, one added at each step. */
function readOffset(bytes: Buffer, start: number): { readonly value: number; readonly end: number } | undefined {
  let value = -1;
  for (let at = start; at < bytes.length && value < 0xff_ffff; at++) {
    const byte = bytes[at] ?? 0;
    value = (value + 1) * 128 + (byte & 127);
    if (byte < 128) return { value, end: at + 1 };
  }
  return undefined;
}
