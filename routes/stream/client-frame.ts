/**
 * The text of a message becomes a client frame, or is refused.
 */
import type { Limits } from '../../config/limits.ts';
import { GauntletError } from '../../src/base/errors.ts';
import { parseSafeJson } from '../../src/base/json.ts';
import { type ClientFrame, ClientFrameSchema } from '../../src/wire/client-frames.ts';
import { parseRequest } from '../parse-request.ts';

/** Strings below these paths are pieces of streamed input, checked once the block is complete. */
const PIECES = ['event.delta', 'chunk.delta', 'chunk.choices[0].delta'];

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
    return parseRequest(ClientFrameSchema, value, 'the frame');
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
