/**
 * The audit trail of a server: its file in the data directory, and the log whose frames it is told.
 */
import { join } from 'node:path';
import type { Limits } from '../config/limits.ts';
import { openAuditFile } from '../src/log/audit-file.ts';
import { AuditTrail } from '../src/log/audit-trail.ts';
import { auditedLog } from '../src/log/audited-log.ts';
import type { FrameLog } from '../src/log/frame-log.ts';
import type { OnLogProblem } from '../src/log/log-problem.ts';

/** Open the trail; it closes with the log. @throws {GauntletError} `invalid_setting` if its folder is not private. */
export function openAudit(
  log: FrameLog,
  dataFolder: string,
  { limits, onProblem }: { readonly limits: Limits; readonly onProblem: OnLogProblem },
): { readonly log: FrameLog; readonly trail: AuditTrail } {
  const file = openAuditFile({ folder: join(dataFolder, 'audit'), limits, onProblem });
  const trail = new AuditTrail({ file, limits, principalOf: (sessionId) => log.find(sessionId)?.principal });
  return { log: auditedLog(log, trail), trail };
}
