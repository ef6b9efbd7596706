/**
 * Parses the frames that a client sends over the WebSocket.
 */
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';
import { GauntletError } from '../../src/base/errors.ts';
import { parseSafeJson } from '../../src/base/json.ts';
import { IdSchema } from '../../src/wire/block-schema.ts';
import { parseRequest } from '../parse-request.ts';
import { AnswerSchema, toAnswer } from '../sessions/answer.ts';
import { SUBPROTOCOL } from './subprotocol.ts';

/** Strings below these paths are pieces of streamed input, checked once the block is complete. */
const PIECES = ['event.delta', 'chunk.delta', 'chunk.choices[0].delta'];

const Seq = z.number().int().min(0);

/** Schema of all client frames, by `type`. Blocks and events are validated by the session. */
const ClientFrameSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('hello'),
    // null: the client has seen no frame yet.
    from_seq: Seq.nullish(),
    epoch: z.string().nullish(),
    progress: z.boolean().default(true),
    // Optional statement of the protocol version.
    protocol: z.literal([1, SUBPROTOCOL]).optional(),
  }),
  z.strictObject({ type: z.literal('tool_use'), turn_id: IdSchema.optional(), tool_use: z.unknown() }),
  z.strictObject({ type: z.literal('stream_event'), turn_id: IdSchema.optional(), event: z.unknown() }),
  z.strictObject({ type: z.literal('stream_chunk'), turn_id: IdSchema.optional(), chunk: z.unknown() }),
  z.strictObject({ type: z.literal('turn_end'), turn_id: IdSchema }),
  z.strictObject({ type: z.literal('cancel'), tool_use_id: IdSchema.optional(), turn_id: IdSchema.optional() }),
  z.strictObject({ type: z.literal('interrupt') }),
  z.strictObject({ type: z.literal('discard'), turn_id: IdSchema }),
  z
    .strictObject({ type: z.literal('permission_answer'), request_id: IdSchema, ...AnswerSchema.shape })
    .transform(({ type, request_id, ...answer }) => ({ type, request_id, answer: toAnswer(answer) })),
  z.strictObject({ type: z.literal('ack'), seq: Seq }),
  z.strictObject({ type: z.literal('ping'), t: z.json().optional() }),
]);

/** One client frame. */
export type ClientFrame = z.output<typeof ClientFrameSchema>;

/** Thrown for a message that is not a frame: it ends the connection. */
export class NotAFrame extends Error {}

/**
 * Create the parser of messages.
 *
 * @throws {GauntletError} From the parser: `invalid_request`.
 * @throws {NotAFrame} From the parser.
 */
export function clientFrameReader(limits: Limits): (text: string) => ClientFrame {
  return function readFrame(text) {
    const value = parse(text, limits);
    if (typeof value !== 'object' || value === null || typeof (value as { type?: unknown }).type !== 'string') {
      throw new NotAFrame('A message must be a JSON object with a "type"');
    }
    return parseRequest(ClientFrameSchema, value, 'the frame', limits);
  };
}

function parse(text: string, limits: Limits): unknown {
  try {
    return parseSafeJson(text, 'the frame', limits, { fragments: PIECES });
  } catch (error) {
    if (error instanceof GauntletError && error.details?.reason === 'not_json') {
      throw new NotAFrame('A message must be JSON');
    }
    throw error;
  }
}
