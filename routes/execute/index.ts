/**
 * `POST /execute`: executes a batch of blocks, and replies with the results or with frames as they happen.
 */
import { GauntletError } from '../../src/base/errors.ts';
import { traceOrigin } from '../../src/base/tracing.ts';
import { approvalsByBlock } from '../../src/session/questions/handed-in.ts';
import type { TurnReply } from '../../src/session/turn/turn-reply.ts';
import type { Dependencies } from '../dependencies.ts';
import { FRAME_TYPES, writeFrames, writingFor } from '../frame-text.ts';
import { clientGone, pipeReply, sendWhenReady } from '../pipe-reply.ts';
import type { App } from '../request-schemas.ts';
import { type Batch, batchOf, executeSchema, type GivenBatch, givenBatch } from './execute-request.ts';
import { ANTHROPIC } from './reply-formats.ts';

/** Register the route that executes. */
export function executeDoor(app: App, dependencies: Dependencies): void {
  const { directory, limits, readiness } = dependencies;
  const schema = { body: executeSchema() };
  const reply = { json: 'Execution', text: FRAME_TYPES } as const;
  const config = { summary: 'Execute tool calls', reply };

  app.post('/execute', { schema, config }, async (request, reply) => {
    if (readiness() === 'draining')
      throw new GauntletError('shutting_down', 'The server is shutting down; try again soon');
    const gone = clientGone(reply);
    const { principal, body: asked } = request;
    const given = givenBatch(asked);
    const { session_id: sessionId, turn_id: turnId, on_ask: onAsk, ask_timeout_ms: askTimeoutMs } = asked;
    const known = sessionId === undefined ? undefined : await directory.open(principal, sessionId);
    const { assistant, ...batch } = batchOf(given, asked.id_scope ?? known?.idScope ?? 'session', turnId);
    const approvals = approvalsByBlock(asked.approvals, batch, principal);
    const session = known ?? directory.createForBatch(principal);
    const trace = traceOrigin(request.headers);
    const turn = await session.submit({ ...batch, approvals, turnId, onAsk, askTimeoutMs, trace });

    if (asked.cancel_on_disconnect) {
      const cancel = () => void session.cancel({ turnId: turn.turn.id });
      if (gone.aborted) cancel();
      else gone.addEventListener('abort', cancel, { once: true });
    }
    const writing = writingFor(request.headers.accept);
    if (writing !== undefined) {
      const chunks = writeFrames(session.turnFrames(turn, gone), writing, session.epoch);
      return pipeReply(reply, { ...writing, chunks }, gone, limits);
    }
    const body = session.collect(turn, gone).then((result) => replyBody(session.id, result, { ...given, assistant }));
    return sendWhenReady(reply, body, gone, dependencies);
  });
}

/** Serialise the reply to blocks that did not come with the request. */
export function executionReply(sessionId: string, result: TurnReply): string {
  return replyBody(sessionId, result, { format: ANTHROPIC, blocks: [] });
}

/** Serialise the reply. It contains the results twice, so they are serialised once and reused. */
function replyBody(
  sessionId: string,
  { turnId, results, calls, newMessages }: TurnReply,
  { format, blocks, assistant }: Pick<GivenBatch, 'format' | 'blocks'> & Pick<Batch, 'assistant'>,
): string {
  const resultsJson = JSON.stringify(results);
  const added = newMessages.length === 0 ? '' : `"new_messages":${JSON.stringify(newMessages)},`;
  const before = assistant === undefined ? '' : `"assistant":${JSON.stringify(assistant)},`;
  const names = blocks.map(({ name }) => name);
  return (
    `{"session_id":${JSON.stringify(sessionId)},"turn_id":${JSON.stringify(turnId)},${before}"results":${resultsJson},` +
    `${format.appendix({ results, resultsJson, names })},${added}"calls":${JSON.stringify(calls)}}`
  );
}
