/**
 * Bounds what an upstream tells of its own accord: what a client does not read in time waits in memory.
 */

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
  const recent = new Map<string, { isAgain: boolean }>();
  const updated = (uri: string): void => {
    const told = recent.get(uri);
    if (told) return void (told.isAgain = true);
    if (recent.size >= MAX_RESOURCES || uri.length > MAX_URI_CHARS) return;
    const now = { isAgain: false };
    recent.set(uri, now);
    const end = () => {
      recent.delete(uri);
      if (now.isAgain) updated(uri);
    };
    setTimeout(end, PAUSE_MS).unref();
    publish(uri);
  };
  return updated;
}

/** Create a function that says whether there is room for one more notice. */
export function noticeRoom(): () => boolean {
  let beganMs = -Infinity;
  let count = 0;
  return () => {
    const nowMs = performance.now();
    if (nowMs - beganMs >= RATE_MS) {
      beganMs = nowMs;
      count = 0;
    }
    return ++count <= MAX_NOTICES;
  };
}
