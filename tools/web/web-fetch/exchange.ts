/**
 * One HTTP exchange: a GET over a connection to a checked address, with its body unpacked inside bounds.
 */
import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { type Duplex, pipeline, type Readable, type Transform } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Endpoint } from '../../../config/authority.ts';
import { errorMessage, GauntletError, isGauntletError } from '../../../src/base/errors.ts';
import type { PageUrl } from './page-url.ts';

/** A name that operators of sites can look up in their logs. */
const USER_AGENT = 'Gauntlet-WebFetch/1.0';

/** A page, unpacked; the text of longer ones does not fit any result. */
const MAX_PAGE_BYTES = 10 * 1_024 * 1_024;

/** Headers of one reply; some sites set dozens of cookies. */
const MAX_HEADER_BYTES = 64 * 1_024;

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** A reply with its body unpacked. */
export interface HttpReply {
  readonly status: number;
  readonly statusText: string;
  readonly contentType: string;
  /** Header `location` as it came; undefined unless the status is a redirect. */
  readonly location: string | undefined;
  /** False if the reply must not be stored (`no-store`). */
  readonly mayBeCached: boolean;
  /** Empty for a redirect, whose body is not read. */
  readonly body: Buffer;
}

/** Dependencies of an exchange. */
export interface ExchangeParts {
  /** Connect to a checked address. */
  readonly connect: (endpoint: Endpoint, signal: AbortSignal) => Promise<Socket>;
  /** Called with the number of bytes received so far. */
  onBytes(bytes: number): void;
}

/**
 * Request a page.
 *
 * @param signal Ends the exchange at any point.
 * @throws {GauntletError} `output_limit` for a page that is too large; `tool_failed` without a valid reply; errors of `connect`.
 */
export async function exchange(page: PageUrl, parts: ExchangeParts, signal: AbortSignal): Promise<HttpReply> {
  const socket = await parts.connect(page.endpoint, signal);
  // Destroying the socket rejects every pending read and write.
  const end = () => void socket.destroy(new Error('the exchange was ended'));
  signal.addEventListener('abort', end, { once: true });
  // Errors reach the pending reads and writes as well.
  socket.on('error', () => undefined);
  try {
    const reply = await send(page, await secured(page, socket, signal), signal);
    return await readReply(page, reply, parts);
  } catch (cause) {
    if (isGauntletError(cause)) throw cause;
    throw new GauntletError('tool_failed', `Cannot fetch "${page.url.href}": ${reason(cause)}`, { cause });
  } finally {
    signal.removeEventListener('abort', end);
    socket.destroy();
  }
}

async function secured({ url, endpoint }: PageUrl, socket: Socket, signal: AbortSignal): Promise<Duplex> {
  if (url.protocol !== 'https:') return socket;
  const { host } = endpoint;
  const secure = connectTls({
    socket,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ['http/1.1'],
  });
  // After an abort nothing waits any more, and the error that follows needs a listener.
  secure.on('error', () => undefined);
  await once(secure, 'secureConnect', { signal });
  return secure;
}

async function send({ url }: PageUrl, stream: Duplex, signal: AbortSignal): Promise<IncomingMessage> {
  const outgoing = sendRequest({
    createConnection: () => stream,
    path: `${url.pathname}${url.search}`,
    maxHeaderSize: MAX_HEADER_BYTES,
    headers: {
      host: url.host,
      'user-agent': USER_AGENT,
      accept: 'text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,*/*;q=0.5',
      'accept-language': 'en,*;q=0.5',
      'accept-encoding': 'gzip, deflate, br',
      connection: 'close',
    },
  });
  // `once` below rejects on errors too; a later one ends the reply early, which the reader notices.
  outgoing.on('error', () => undefined).end();
  const [reply] = (await once(outgoing, 'response', { signal })) as [IncomingMessage];
  return reply;
}

async function readReply(page: PageUrl, reply: IncomingMessage, parts: ExchangeParts): Promise<HttpReply> {
  const { statusCode = 0, statusMessage = '', headers } = reply;
  const isRedirect = statusCode >= 300 && statusCode < 400 && headers.location !== undefined;
  return {
    status: statusCode,
    statusText: statusMessage,
    contentType: headers['content-type'] ?? '',
    location: isRedirect ? headers.location : undefined,
    mayBeCached: !/\bno-store\b/i.test(headers['cache-control'] ?? ''),
    body: isRedirect ? Buffer.alloc(0) : await readBody(page, reply, parts),
  };
}

async function readBody({ url }: PageUrl, reply: IncomingMessage, { onBytes }: ExchangeParts): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of unpacked(reply) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_PAGE_BYTES) {
      const fix = 'Fetch a smaller page, or download it with a command and read it in parts';
      throw new GauntletError('output_limit', `"${url.href}" has more than ${MAX_PAGE_BYTES} bytes. ${fix}`);
    }
    chunks.push(chunk);
    onBytes(bytes);
  }
  return Buffer.concat(chunks);
}

/** Undo the content coding. Several nested codings occur only in attacks, and are refused like unknown ones. */
function unpacked(reply: IncomingMessage): Readable {
  const coding = (reply.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (coding === 'identity' || coding === '') return reply;
  const unpacker = Object.hasOwn(UNPACKERS, coding) ? UNPACKERS[coding] : undefined;
  if (unpacker === undefined) throw new Error('its content coding is not supported');
  // Errors of both are thrown to the reader.
  return pipeline(reply, unpacker(), () => undefined);
}

/** Describe why there is no reply, in words where Node has only a code. */
function reason(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'HPE_HEADER_OVERFLOW') return 'its headers are too long';
  if (code.startsWith('HPE_')) return 'the server there does not speak HTTP';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the connection was reset. Try again later';
  if (code.startsWith('Z_') || code.startsWith('ERR_BROTLI') || code.startsWith('ERR__ERROR_FORMAT'))
    return 'its compressed content is damaged';
  if (/CERT|SELF_SIGNED|ISSUER|SIGNATURE/.test(code)) return `its certificate cannot be trusted (${code})`;
  if (code.startsWith('ERR_SSL') || code === 'EPROTO') return 'the server there does not speak TLS';
  return errorMessage(cause);
}
