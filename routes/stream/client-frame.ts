/**
 * Parses the messages of clients.
 */
import { GauntletError } from '../../src/base/errors.ts';
import { parseSafeJson } from '../../src/base/json.ts';
import { type ClientFrame, ClientFrameSchema } from '../../src/wire/client-frames.ts';
import { parseRequest } from '../parse-request.ts';

/** Strings below these paths are pieces of streamed input, checked once the block is complete. */
const PIECES = ['event.delta', 'chunk.delta', 'chunk.choices[0].delta'];

/** Thrown for a message that is not a frame: it ends the connection. */
export class NotAFrame extends Error {}

/**
 * Parse a message.
 *
 * @throws {GauntletError} `invalid_request`.
 * @throws {NotAFrame} If it is not a JSON object with a type.
 */
export function parseClientFrame(text: string): ClientFrame {
  const value = parse(text);
  if (typeof value !== 'object' || value === null || typeof (value as { type?: unknown }).type !== 'string') {
    throw new NotAFrame('A message must be a JSON object with a "type"');
  }
  return parseRequest(ClientFrameSchema, value, 'the frame');
}

function parse(text: string): unknown {
  try {
    return parseSafeJson(text, 'the frame', { fragments: PIECES });
  } catch (error) {
    if (error instanceof GauntletError && error.details?.reason === 'not_json') {
      throw new NotAFrame('A message must be JSON');
    }
    throw error;
  }
}
