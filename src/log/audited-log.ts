/**
 * A frame log that tells the audit trail of what has landed. Nobody who appends waits for it.
 */
import type { NewFrame, Seq } from '../wire/frames.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { FrameLog } from './frame-log.ts';

/** The same log, with the trail as its reader; they close together. */
export function auditedLog(log: FrameLog, trail: Pick<AuditTrail, 'landed' | 'removed' | 'close'>): FrameLog {
  return {
    epoch: log.epoch,
    append(sessionId: string, after: Seq, frames: readonly NewFrame[]) {
      const landing = log.append(sessionId, after, frames);
      landing.then(
        () => trail.landed(sessionId, frames),
        () => {
          // Whoever appended is told; what did not land did not happen.
        },
      );
      return landing;
    },
    async remove(sessionId) {
      const principal = log.find(sessionId)?.principal;
      await log.remove(sessionId);
      trail.removed(sessionId, principal);
    },
    read: (sessionId, after, options) => log.read(sessionId, after, options),
    bounds: (sessionId) => log.bounds(sessionId),
    list: (principal, page) => log.list(principal, page),
    find: (sessionId) => log.find(sessionId),
    save: (sessionId, notes) => log.save(sessionId, notes),
    fact: (sessionId, key) => log.fact(sessionId, key),
    weigh: (page) => log.weigh(page),
    trim: (sessionId, goal) => log.trim(sessionId, goal),
    usedBytes: () => log.usedBytes(),
    async close() {
      await log.close();
      trail.close();
    },
  };
}
