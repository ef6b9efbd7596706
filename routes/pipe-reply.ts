/**
 * Long replies: written as they come, at the reader's pace, until it stops reading.
 */
import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Limits } from '../config/limits.ts';

/** What a long reply is made of. */
export interface LongReply {
  readonly contentType: string;
  readonly chunks: AsyncIterable<string>;
  /** Written when nothing else is, so that nobody between takes the silence for the end. */
  readonly heartbeat?: string;
}

/** Aborted when the client goes away before its reply is complete. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

/**
 * Write a reply chunk by chunk. Nothing is queued: the next chunk is asked for when the last was taken.
 *
 * A reader that takes nothing for `slowReaderMs` is cut off and may come again.
 *
 * @param gone From `clientGone`.
 * @throws Whatever `chunks` throws; the connection is cut, since the status has left.
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
  // A write that races the client's going away is an error of the response, and nobody's fault.
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
