/**
 * A log whose committed frames are also told to observers, such as the audit trail and the metrics.
 */
import type { NewFrame, Seq } from '../wire/frames.ts';
import type { FrameLog } from './frame-log.ts';

/** Hears of what was committed. It must not throw. */
export interface LogObserver {
  /** Called with the frames of one committed append. */
  recordFrames(sessionId: string, frames: readonly NewFrame[]): void;
  /** Called when an append was not committed. */
  recordFailure?(error: unknown): void;
  /** Called when a session was removed. @param principal Its owner, if the log knew it. */
  recordRemoval(sessionId: string, principal: string | undefined): void;
  /** Called after the log has closed. */
  close?(): void;
}

/** Wrap a log so that its observers hear of committed frames, in this order. */
export function observedLog(log: FrameLog, observers: readonly LogObserver[]): FrameLog {
  return {
    epoch: log.epoch,
    append(sessionId: string, after: Seq, frames: readonly NewFrame[]) {
      const landing = log.append(sessionId, after, frames);
      landing.then(
        () => {
          for (const observer of observers) observer.recordFrames(sessionId, frames);
        },
        (error: unknown) => {
          // The caller of `append` handles the rejection; frames that were not committed are not observed.
          for (const observer of observers) observer.recordFailure?.(error);
        },
      );
      return landing;
    },
    async remove(sessionId) {
      const principal = log.find(sessionId)?.principal;
      await log.remove(sessionId);
      for (const observer of observers) observer.recordRemoval(sessionId, principal);
    },
    read: (sessionId, after, options) => log.read(sessionId, after, options),
    bounds: (sessionId) => log.bounds(sessionId),
    lastAt: (sessionId) => log.lastAt(sessionId),
    list: (principal, page) => log.list(principal, page),
    find: (sessionId) => log.find(sessionId),
    save: (sessionId, notes) => log.save(sessionId, notes),
    fact: (sessionId, key) => log.fact(sessionId, key),
    weigh: (page) => log.weigh(page),
    trim: (sessionId, goal) => log.trim(sessionId, goal),
    usedBytes: () => log.usedBytes(),
    sessionCount: () => log.sessionCount(),
    async close() {
      await log.close();
      for (const observer of observers) observer.close?.();
    },
  };
}
