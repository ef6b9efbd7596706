/**
 * The first frame a client is sent: where the log stands, what is open, what it may send.
 */
import type { Limits } from '../../config/limits.ts';
import type { Session } from '../../src/session/session.ts';
import type { LogStart } from '../log-start.ts';
import { SUBPROTOCOL } from './subprotocol.ts';

/** Make the `welcome` of a connection. */
export function welcomeFrame(session: Session, { bounds, isResumed }: LogStart, limits: Limits): object {
  return {
    type: 'welcome',
    protocol: SUBPROTOCOL,
    session_id: session.id,
    epoch: session.epoch,
    first: bounds.first,
    head: bounds.head,
    resumed: isResumed,
    pending: session.prompts(),
    running: session.running(),
    limits: {
      message_bytes: limits.webSocketMessageBytes,
      json_depth: limits.jsonDepth,
      tool_use_concurrency: limits.toolUseConcurrency,
      ping_ms: limits.webSocketPingMs,
      slow_reader_ms: limits.slowReaderMs,
    },
  };
}
