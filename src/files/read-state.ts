/**
 * What a session has read, so that nothing is overwritten that it has not seen as it is.
 *
 * Immutable. A small map of what is new lies over a large one that is shared, so that reading one
 * file does not copy a thousand entries.
 */
import type { FileReadRecord, ReadState, SessionContext } from '../contract/session-context.ts';

/** Entries the small map takes before both become one. */
const RECENT_RECORDS = 32;

type Records = ReadonlyMap<string, FileReadRecord>;

/**
 * An empty read state.
 *
 * @param limit Files remembered; beyond it the one read longest ago is forgotten and must be read again.
 */
export function emptyReadState(limit: number): ReadState {
  return readState(new Map(), new Map(), limit);
}

/** The next context: the same, with one file read or written. A `ContextModifier` once its record is bound. */
export function withReadRecord(context: SessionContext, record: FileReadRecord): SessionContext {
  return Object.freeze({ ...context, version: context.version + 1, readState: context.readState.with(record) });
}

function readState(older: Records, recent: Records, limit: number): ReadState {
  return Object.freeze({
    get: (path: string) => recent.get(path) ?? older.get(path),
    recent: (most: number) =>
      [...[...older.values()].filter(({ path }) => !recent.has(path)), ...recent.values()].slice(-most),
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
