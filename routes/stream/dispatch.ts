/**
 * Executes client frames, each with one call to the session.
 */
import { GauntletError } from '../../src/base/errors.ts';
import { traceOrigin } from '../../src/base/tracing.ts';
import { readGivenBlock } from '../../src/wire/block-schema.ts';
import type { Feeder } from '../../src/session/feed/feeder.ts';
import type { Session } from '../../src/session/session.ts';
import type { ClientFrame } from '../../src/wire/client-frames.ts';
import type { Readiness } from '../../src/wire/server-replies.ts';
import type { RequestRates } from '../request-rates.ts';
import { toAnswer } from '../sessions/answer.ts';
import type { Outlet } from './outlet.ts';

/** Frames allowed after `hello`. */
export type LaterFrame = Exclude<ClientFrame, { readonly type: 'hello' }>;

/** Objects that frames act on. */
export interface DispatchContext {
  readonly session: Session;
  readonly feeder: Feeder;
  readonly outlet: Outlet;
  readonly principal: string;
  readonly rates: RequestRates;
  readiness(): Readiness;
}

/** Execute a frame. @throws {GauntletError} An error to send as an `error` frame. */
export async function dispatch(frame: LaterFrame, context: DispatchContext): Promise<void> {
  const { session, feeder, outlet, rates, principal } = context;
  if (isRequest(frame)) rates.count(principal);
  switch (frame.type) {
    case 'tool_use':
      refuseWhileDraining(context);
      return feeder.toolUse(frame.turn_id, readGivenBlock(frame.tool_use), {
        approvals: frame.approvals,
        by: principal,
        trace: frame.traceparent === undefined ? undefined : traceOrigin(frame),
      });
    case 'stream_event':
      refuseWhileDraining(context);
      return streamEvents(frame.turn_id, { events: [frame.event] }, context);
    case 'stream_chunk':
      refuseWhileDraining(context);
      return streamEvents(frame.turn_id, feeder.eventsOf(frame.turn_id, frame.chunk), context);
    case 'turn_end':
      return feeder.endTurn(frame.turn_id);
    case 'discard':
      return feeder.discard(frame.turn_id);
    case 'cancel':
      session.cancel({ toolUseId: frame.tool_use_id, turnId: frame.turn_id });
      return;
    case 'interrupt':
      return session.interrupt();
    case 'permission_answer':
      await session.answer(frame.request_id, toAnswer(frame), context.principal);
      return;
    case 'ping':
      return outlet.control({ type: 'pong', t: frame.t });
    case 'ack':
      // The cursor needs no acknowledgement; clients may send one for their own bookkeeping.
      return;
  }
}

/** True if a frame counts as a request; a streamed block is counted when it begins. */
function isRequest({ type }: LaterFrame): boolean {
  return !['ack', 'ping', 'stream_event', 'stream_chunk'].includes(type);
}

async function streamEvents(
  turnId: string | undefined,
  { events, problem }: { readonly events: readonly unknown[]; readonly problem?: unknown },
  { feeder, rates, principal }: DispatchContext,
): Promise<void> {
  const problems: unknown[] = problem === undefined ? [] : [problem];
  for (const event of events) {
    try {
      if ((event as { type?: unknown } | null)?.type === 'content_block_start') rates.count(principal);
      await feeder.streamEvent(turnId, event);
    } catch (error) {
      // An event that is rejected must not prevent the others of its chunk, or the end of the message.
      problems.push(error);
    }
  }
  if (problems.length > 0) throw problems[0];
}

function refuseWhileDraining({ readiness }: DispatchContext): void {
  if (readiness() !== 'draining') return;
  throw new GauntletError('shutting_down', 'The server is shutting down; connect again soon');
}
