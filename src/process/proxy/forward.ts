/**
 * One plain request, `GET http://host/path`: sent on to its host, and the answer sent back, both as they come.
 */
import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Endpoint, parseAuthority } from '../../../config/authority.ts';
import { GauntletError } from '../../base/errors.ts';
import { closeSignal } from './close-signal.ts';
import type { Dial } from './dial.ts';
import { forwardedHeaders } from './forwarded-headers.ts';

const ABSOLUTE_FORM = /^http:\/\/([^/?#]*)(\/[^#]*)?$/i;
const HTTP_PORT = 80;

/**
 * Forward it, to the end of its answer.
 *
 * @throws {GauntletError} `invalid_request` for a target of another form, and as `Dial` does.
 */
export async function forwardRequest(request: IncomingMessage, reply: ServerResponse, dial: Dial): Promise<void> {
  const { endpoint, authority, path } = readTarget(request.url ?? '');
  const socket = await dial(endpoint, closeSignal(reply));
  const hasChunks = request.headers['transfer-encoding'] !== undefined;
  const outgoing = sendRequest({
    createConnection: () => socket,
    method: request.method,
    path,
    headers: [
      // What the client said of the host is not believed, and it was told to go on already.
      ...forwardedHeaders(request.rawHeaders, ['host', 'expect']),
      ...['Host', authority, 'Connection', 'close'],
      ...(hasChunks ? ['Transfer-Encoding', 'chunked'] : []),
    ],
  });
  // After the answer has begun an error shows as its end.
  outgoing.on('error', () => undefined);
  reply.once('close', () => outgoing.destroy());
  // A host may answer before it has read everything; a failure to answer shows below.
  pipeline(request, outgoing).catch(() => undefined);

  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  reply.sendDate = false;
  reply.writeHead(answer.statusCode ?? 502, answer.statusMessage, forwardedHeaders(answer.rawHeaders));
  await pipeline(answer, reply);
}

function readTarget(target: string): { endpoint: Endpoint; authority: string; path: string } {
  const [, authority = '', path = '/'] = ABSOLUTE_FORM.exec(target) ?? [];
  const read = parseAuthority(authority);
  if (read === undefined) {
    throw new GauntletError(
      'invalid_request',
      'Cannot read where this leads: ask for "http://host/path", or CONNECT to host:port',
    );
  }
  return { endpoint: { host: read.host, port: read.port ?? HTTP_PORT }, authority, path };
}
