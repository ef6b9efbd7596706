/**
 * Writes long replies at the reader's pace, until it stops reading.
 */
import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { Limits } from '../config/limits.ts';
import type { Dependencies } from './dependencies.ts';
import { errorBody, toWireError } from './error-reply.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Longest silence of a reply that is still to come. Clients and proxies give up after minutes, some after 30 s. */
const MAX_SILENCE_MS = 20_000;

/** Longest wait of the status line for the first chunk, with which it leaves in one write. */
const HEADER_WAIT_MS = 10;

/** Time after which others run for a moment: chunks from the disk to a fast reader come without a wait between them. */
const MAX_TURN_MS = 10;

/** Content of a long reply. */
export interface LongReply {
  readonly contentType: string;
  readonly chunks: AsyncIterable<string>;
  /** Written while there is nothing else, so that intermediaries keep the connection open. */
  readonly heartbeat?: string;
}

/** Create a signal that aborts when the client disconnects before its reply is complete. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const { raw } = reply;
  const controller = new AbortController();
  const onClose = () => {
    if (!raw.writableFinished) controller.abort();
  };
  // A client may have gone before anybody listened.
  if (raw.closed) onClose();
  else raw.once('close', onClose);
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
  const headerTimer = setTimeout(() => raw.flushHeaders(), HEADER_WAIT_MS);
  // A write that races with the client's disconnect is an error of the response, to be ignored.
  raw.on('error', () => undefined);
  const beat = () => {
    if (heartbeat !== undefined && !raw.writableNeedDrain && !gone.aborted) raw.write(heartbeat);
  };
  const timer = setInterval(beat, heartbeatMs(limits));
  let turnMs = performance.now();
  try {
    for await (const chunk of chunks) {
      if (gone.aborted) return;
      if (!raw.write(chunk))
        await once(raw, 'drain', { signal: AbortSignal.any([gone, AbortSignal.timeout(limits.slowReaderMs)]) });
      if (performance.now() - turnMs <= MAX_TURN_MS) continue;
      await nextTurn();
      turnMs = performance.now();
    }
    raw.end();
  } catch (error) {
    raw.destroy();
    if (!isAbort(error)) throw error;
  } finally {
    clearInterval(timer);
    clearTimeout(headerTimer);
  }
}

/**
 * Send a JSON reply once it is there. If that takes long, the status is sent before and white space keeps the connection
 * open; an error is then the body of a reply with status 200.
 *
 * @param gone From `clientGone`.
 * @throws The error of `body`, if no status was sent yet.
 */
export async function sendWhenReady(
  reply: FastifyReply,
  body: Promise<string>,
  gone: AbortSignal,
  { limits, logger }: Pick<Dependencies, 'limits' | 'logger'>,
): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), heartbeatMs(limits));
  });
  const text = await Promise.race([body, silence]).finally(() => clearTimeout(timer));
  if (text !== undefined) return reply.header('content-type', JSON_TYPE).send(text);

  async function* chunks(): AsyncGenerator<string> {
    try {
      yield await body;
    } catch (error) {
      if (gone.aborted) return;
      const wire = toWireError(error);
      if (wire.code === 'internal') logger.error({ err: error, request_id: reply.request.id }, 'A request failed');
      yield errorBody(wire, reply.request.id);
    }
  }
  return pipeReply(reply, { contentType: JSON_TYPE, chunks: chunks(), heartbeat: ' ' }, gone, limits);
}

function heartbeatMs({ webSocketPingMs }: Pick<Limits, 'webSocketPingMs'>): number {
  return Math.min(webSocketPingMs, MAX_SILENCE_MS);
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
