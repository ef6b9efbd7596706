/**
 * Files that a session has read, so that it overwrites no file whose current content it has not seen.
 *
 * Immutable. A small map of recent records is layered over a large shared one, so that reading one file does not copy a
 * thousand entries.
 */
import type { FileReadRecord, ReadState, SessionContext } from '../tool/session-context.ts';

/** Files that a session remembers having read. */
export const MAX_READ_RECORDS = 1_000;

/** Entries the small map takes before both become one. */
const RECENT_RECORDS = 32;

type Records = ReadonlyMap<string, FileReadRecord>;

/**
 * Create an empty read state.
 *
 * @param limit Number of files remembered; beyond it the least recently read file is forgotten and must be read again.
 */
export function emptyReadState(limit = MAX_READ_RECORDS): ReadState {
  return readState(new Map(), new Map(), limit);
}

/** Last line of a part that reaches the end of its file. */
export const END_OF_FILE = Number.MAX_SAFE_INTEGER;

/** Parts remembered of one file; if it is read in more, it must be read again before it is overwritten. */
const MAX_PARTS = 100;

/** Create the next context, in which one file was read or written. With its record bound it is a `ContextModifier`. */
export function withReadRecord(context: SessionContext, record: FileReadRecord): SessionContext {
  const { readState } = context;
  const joined = joinedRecord(readState.get(record.path), record);
  return Object.freeze({ ...context, version: context.version + 1, readState: readState.with(joined) });
}

/** Return the first line that was not shown of a partly shown text. */
export function firstUnseenLine({ shownLines = [] }: FileReadRecord): number {
  const [first] = shownLines;
  return first?.[0] === 1 ? first[1] + 1 : 1;
}

/** Merge two reads of a file if it did not change between them. */
function joinedRecord(known: FileReadRecord | undefined, record: FileReadRecord): FileReadRecord {
  if (!record.isPartial || !known || !isSameContent(known, record)) return record;
  if (!known.isPartial) return { ...record, isPartial: false, shownLines: undefined };
  const shownLines = joinedParts([...(known.shownLines ?? []), ...(record.shownLines ?? [])]);
  const hasCutLines = known.hasCutLines === true || record.hasCutLines === true;
  const isWhole = shownLines[0]?.[0] === 1 && shownLines[0][1] === END_OF_FILE;
  return { ...record, isPartial: hasCutLines || !isWhole, shownLines, hasCutLines };
}

function isSameContent(one: FileReadRecord, other: FileReadRecord): boolean {
  if (one.sha256 !== undefined || other.sha256 !== undefined) return one.sha256 === other.sha256;
  return one.mtimeMs === other.mtimeMs && one.sizeBytes === other.sizeBytes;
}

type Parts = NonNullable<FileReadRecord['shownLines']>;

function joinedParts(parts: Parts): Parts {
  const joined: (readonly [number, number])[] = [];
  for (const [first, last] of parts.toSorted((one, other) => one[0] - other[0])) {
    const before = joined.at(-1);
    if (before && first <= before[1] + 1) joined[joined.length - 1] = [before[0], Math.max(before[1], last)];
    else joined.push([first, last]);
  }
  return joined.slice(0, MAX_PARTS);
}

function readState(older: Records, recent: Records, limit: number): ReadState {
  return Object.freeze({
    get: (path: string) => recent.get(path) ?? older.get(path),
    recent: (max: number) =>
      [...[...older.values()].filter(({ path }) => !recent.has(path)), ...recent.values()].slice(-max),
    with(record: FileReadRecord) {
      const next = new Map(recent);
      next.delete(record.path);
      next.set(record.path, Object.freeze(record));
      return next.size < RECENT_RECORDS
        ? readState(older, next, limit)
        : readState(merge(older, next, limit), new Map(), limit);
    },
  });
}

function merge(older: Records, recent: Records, limit: number): Records {
  const merged = new Map(older);
  for (const [path, record] of recent) {
    merged.delete(path);
    merged.set(path, record);
  }
  // A map keeps the order of insertion: the first keys are the oldest.
  for (const path of merged.keys()) {
    if (merged.size <= limit) break;
    merged.delete(path);
  }
  return merged;
}
