/**
 * Replies to requests that Node's HTTP parser rejects or that arrive too slowly, and closes the connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorBody } from './error-reply.ts';
import { SECURITY_HEADERS } from './guard.ts';

/** Node's code for a request that is not complete in time. */
const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT';

const HEADERS = { 'content-type': 'application/json; charset=utf-8', ...SECURITY_HEADERS, connection: 'close' };

/** Reply to a broken request on its bare socket, unless a reply is already being sent. */
export function onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isReplying(socket)) {
    socket.destroy();
    return;
  }
  const { status, reason, message } = describe(error.code);
  const body = errorBody({ code: 'invalid_request', message, details: { reason } }, 'none');
  const headers = Object.entries({ ...HEADERS, 'content-length': Buffer.byteLength(body) });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status}\r\n${lines}\r\n${body}`);
  // A client that keeps sending would hold the socket half open.
  socket.destroySoon();
}

/** Reply to a socket that has not authenticated in time. */
export function refuseSlow(socket: Socket): void {
  onClientError(Object.assign(new Error('Too slow'), { code: TOO_SLOW }), socket);
}

/** Reject an `Expect` other than `100-continue`, which Node handles itself. */
export function onExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const message = 'Cannot meet the header "Expect": leave it out';
  response.writeHead(400, HEADERS);
  response.end(errorBody({ code: 'invalid_request', message, details: { reason: 'bad_http' } }, 'none'));
}

function describe(code: string | undefined): { status: string; reason: string; message: string } {
  if (code === TOO_SLOW) {
    const message = 'Cannot wait any longer for the rest of the request: send it faster';
    return { status: '408 Request Timeout', reason: 'body_timeout', message };
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = 'Cannot take the headers: they are too large';
    return { status: '431 Request Header Fields Too Large', reason: 'headers_too_large', message };
  }
  return { status: '400 Bad Request', reason: 'bad_http', message: 'Cannot read the request: it is not valid HTTP' };
}

/** Node keeps the current reply on the socket; a second one written into it could be mistaken for a forged reply. */
function isReplying(socket: Socket & { readonly _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}
