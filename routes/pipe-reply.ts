/**
 * Writes long replies at the reader's pace, until it stops reading.
 */
import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Limits } from '../config/limits.ts';

/** Content of a long reply. */
export interface LongReply {
  readonly contentType: string;
  readonly chunks: AsyncIterable<string>;
  /** Written while there is nothing else, so that intermediaries keep the connection open. */
  readonly heartbeat?: string;
}

/** Create a signal that aborts when the client disconnects before its reply is complete. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

/**
 * Write a reply chunk by chunk. Nothing is queued: the next chunk is requested once the last was accepted.
 *
 * A reader that accepts nothing for `slowReaderMs` is disconnected and may reconnect.
 *
 * @param gone From `clientGone`.
 * @throws The error of `chunks`; the connection is closed, since the status was already sent.
 */
export async function pipeReply(
  reply: FastifyReply,
  { contentType, chunks, heartbeat }: LongReply,
  gone: AbortSignal,
  limits: Pick<Limits, 'slowReaderMs' | 'webSocketPingMs'>,
): Promise<void> {
  const { raw } = reply;
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  reply.hijack();
  raw.writeHead(200, { ...headers, 'content-type': contentType, 'x-accel-buffering': 'no' });
  raw.flushHeaders();
  // A write that races with the client's disconnect is an error of the response, to be ignored.
  raw.on('error', () => undefined);
  const beat = () => {
    if (heartbeat !== undefined && !raw.writableNeedDrain && !gone.aborted) raw.write(heartbeat);
  };
  const timer = setInterval(beat, limits.webSocketPingMs);
  try {
    for await (const chunk of chunks) {
      if (gone.aborted) return;
      if (raw.write(chunk)) continue;
      await once(raw, 'drain', { signal: AbortSignal.any([gone, AbortSignal.timeout(limits.slowReaderMs)]) });
    }
    raw.end();
  } catch (error) {
    raw.destroy();
    if (!isAbort(error)) throw error;
  } finally {
    clearInterval(timer);
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
