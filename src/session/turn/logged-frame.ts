/**
 * Reads one frame from the log by its number.
 */
import type { Seq } from '../../wire/frames.ts';
import type { LoggedFrame } from '../../log/frame-log.ts';
import type { SessionCore } from '../session-core.ts';

/** Read a frame; `undefined` if retention deleted it. @throws {GauntletError} `log_unavailable` */
export async function loggedFrame({ id, services }: SessionCore, seq: Seq): Promise<LoggedFrame | undefined> {
  for await (const [first] of services.log.read(id, seq - 1, { live: false })) {
    return first?.seq === seq ? first : undefined;
  }
  return undefined;
}
