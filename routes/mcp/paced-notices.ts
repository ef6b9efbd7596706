/**
 * Bounds what an upstream tells of its own accord: what a client does not read in time waits in memory.
 */
import { createRateLimit, paceChanges } from '../../src/base/pace.ts';

/** Changes of one resource closer together than this are told twice at most: at once, and at the end of the time. */
const PAUSE_MS = 1_000;

/** Resources that are told of in that time; the longest address. */
const MAX_RESOURCES = 64;
const MAX_URI_CHARS = 8_000;

/** Messages of the log, or reports of progress, in `RATE_MS`; further ones are dropped. */
const MAX_NOTICES = 200;
const RATE_MS = 1_000;

/** Create a function that calls `publish` for changed resources, seldom enough. */
export function pacedUpdates(publish: (uri: string) => void): (uri: string) => void {
  const changed = paceChanges(PAUSE_MS, MAX_RESOURCES, publish);
  return (uri) => {
    if (uri.length <= MAX_URI_CHARS) changed(uri);
  };
}

/** Create a function that says whether there is room for one more notice. */
export function noticeRoom(): () => boolean {
  return createRateLimit(MAX_NOTICES, RATE_MS);
}
