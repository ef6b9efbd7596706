/**
 * `POST /execute`: executes a batch of blocks, and replies with the results or with frames as they happen.
 */
import { GauntletError } from '../../src/base/errors.ts';
import type { TurnReply } from '../../src/session/turn/turn-reply.ts';
import type { Dependencies } from '../dependencies.ts';
import { FRAME_TYPES, writeFrames, writingFor } from '../frame-text.ts';
import { clientGone, pipeReply } from '../pipe-reply.ts';
import type { App } from '../request-schemas.ts';
import { ANTHROPIC, batchOf, executeSchema, type ReplyShape } from './execute-request.ts';

/** Register the route that executes. */
export function executeDoor(app: App, { directory, limits, readiness }: Dependencies): void {
  const schema = { body: executeSchema() };
  const reply = { json: 'Execution', text: FRAME_TYPES } as const;
  const config = { summary: 'Execute tool calls', reply };

  app.post('/execute', { schema, config }, async (request, reply) => {
    if (readiness() === 'draining')
      throw new GauntletError('shutting_down', 'The server is shutting down; try again soon');
    const { principal, body: asked } = request;
    const { blocks, message, shape } = batchOf(asked);
    const { session_id: sessionId, on_ask: onAsk } = asked;
    const session =
      sessionId === undefined ? directory.createForBatch(principal) : await directory.open(principal, sessionId);
    const turn = await session.submit({
      turnId: asked.turn_id,
      blocks,
      message,
      onAsk,
      askTimeoutMs: asked.ask_timeout_ms,
    });

    const gone = clientGone(reply);
    if (asked.cancel_on_disconnect) {
      gone.addEventListener('abort', () => void session.cancel({ turnId: turn.turn.id }), { once: true });
    }
    const writing = writingFor(request.headers.accept);
    if (writing !== undefined) {
      const chunks = writeFrames(session.turnFrames(turn, gone), writing, session.epoch);
      return pipeReply(reply, { ...writing, chunks }, gone, limits);
    }
    const result = await session.collect(turn, gone);
    return reply.header('content-type', 'application/json; charset=utf-8').send(replyBody(session.id, result, shape));
  });
}

/** Serialise the reply to blocks that did not come with the request. */
export function executionReply(sessionId: string, result: TurnReply): string {
  return replyBody(sessionId, result, ANTHROPIC);
}

/** Serialise the reply. It contains the results twice, so they are serialised once and reused. */
function replyBody(sessionId: string, { turnId, results, calls, newMessages }: TurnReply, shape: ReplyShape): string {
  const resultsJson = JSON.stringify(results);
  const added = newMessages.length === 0 ? '' : `"new_messages":${JSON.stringify(newMessages)},`;
  return (
    `{"session_id":${JSON.stringify(sessionId)},"turn_id":${JSON.stringify(turnId)},"results":${resultsJson},` +
    `${shape.appendix(results, resultsJson)},${added}"calls":${JSON.stringify(calls)}}`
  );
}
