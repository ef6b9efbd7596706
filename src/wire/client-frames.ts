/**
 * Client frames: what a client may send over the WebSocket (PROTOCOL section 5), and an answer to a question, which is
 * the same over HTTP.
 */
import * as z from 'zod';
import type { JsonValue } from '../base/json.ts';
import { ApprovalsSchema } from './approval.ts';
import { CallIdSchema, IdSchema } from './block-schema.ts';
import { UpdatesSchema } from './permission-schemas.ts';

/** The one subprotocol spoken. */
export const SUBPROTOCOL = 'gauntlet.v1';

/** Text for the model that goes with a "deny". */
const MAX_MESSAGE_CHARS = 10_000;

/** The fields of an answer to a question. */
export const AnswerSchema = z.strictObject({
  behavior: z.enum(['allow', 'deny']).describe('The decision'),
  message: z.string().max(MAX_MESSAGE_CHARS).optional().describe('Told to the model when denied'),
  updated_input: z.record(z.string(), z.unknown()).optional().describe('What runs instead of the input asked about'),
  updated_permissions: UpdatesSchema.optional().describe('Added to the session before it goes on'),
});

/** An answer to a question. */
export type WireAnswer = z.output<typeof AnswerSchema>;

/** Length that all systems have to pass on. @see W3C Trace Context, 3.3.1.5 */
const MAX_TRACE_CHARS = 512;

const OwnTurn = IdSchema.optional().describe('The turn; absent: the one that is open, or a new one');
const Turn = IdSchema.describe('The turn');

const Hello = z
  .strictObject({
    type: z.literal('hello'),
    // A client that has seen nothing yet may say so with null.
    from_seq: z.number().int().min(0).nullish().describe('Send the frames after this one; absent: from now on'),
    epoch: z.string().nullish().describe('The `epoch` that `from_seq` belongs to'),
    progress: z.boolean().default(true).describe('False: leave progress out'),
    // A client may say which version it speaks.
    protocol: z.literal([1, SUBPROTOCOL]).optional().describe('The protocol that the client speaks'),
  })
  .describe('The first frame of a connection');

/** All client frames, by `type`. The session checks what a block or an event must look like. */
export const ClientFrameSchema = z.discriminatedUnion('type', [
  Hello,
  z
    .strictObject({
      type: z.literal('tool_use'),
      turn_id: OwnTurn,
      tool_use: z.unknown().describe('A finished `tool_use` block'),
      approvals: ApprovalsSchema.optional(),
      traceparent: z
        .string()
        .max(MAX_TRACE_CHARS)
        .optional()
        .describe('Span that the call belongs to, as in W3C Trace Context'),
      tracestate: z.string().max(MAX_TRACE_CHARS).optional().describe('Goes with `traceparent`'),
    })
    .describe('Executes a block; it starts as soon as it may'),
  z
    .strictObject({
      type: z.literal('stream_event'),
      turn_id: OwnTurn,
      event: z.unknown().describe('A raw event of a streaming Messages reply'),
    })
    .describe('Feeds a message as it streams in: a call starts when its block is complete'),
  z
    .strictObject({
      type: z.literal('stream_chunk'),
      turn_id: OwnTurn,
      chunk: z.unknown().describe('A chunk of Chat Completions or of Gemini, or an event of Responses'),
    })
    .describe('Feeds a message of an OpenAI or Gemini model as it streams in'),
  z.strictObject({ type: z.literal('turn_end'), turn_id: Turn }).describe('No more blocks of the turn come'),
  z
    .strictObject({
      type: z.literal('cancel'),
      tool_use_id: CallIdSchema.optional().describe('Cancel this call'),
      turn_id: IdSchema.optional().describe('Cancel the calls of this turn'),
    })
    .describe('Cancels a call, a turn, or with neither all calls of the session'),
  z
    .strictObject({ type: z.literal('interrupt') })
    .describe('A person typed: running tools are cancelled or go on as they declare, the rest is cancelled'),
  z
    .strictObject({ type: z.literal('discard'), turn_id: Turn })
    .describe('The model fell back: the calls of the turn are dropped, and their results never leave'),
  z
    .strictObject({
      type: z.literal('permission_answer'),
      request_id: IdSchema.describe('The question'),
      ...AnswerSchema.shape,
    })
    .describe('Answers a question'),
  z
    .strictObject({
      type: z.literal('ack'),
      seq: z.number().int().min(0).describe('The last frame that the client has handled'),
    })
    .describe('Says what the client has handled; the server does nothing with it'),
  z
    .strictObject({ type: z.literal('ping'), t: z.custom<JsonValue>().optional().describe('Comes back in `pong`') })
    .describe('Asks for a `pong`'),
]);

/** One client frame. */
export type ClientFrame = z.output<typeof ClientFrameSchema>;
