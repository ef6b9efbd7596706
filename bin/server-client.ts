/**
 * The command line's client of the running server: its public HTTP API, one request at a time.
 */
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { spellEndpoint } from '../config/authority.ts';
import { loadSettings } from '../config/settings.ts';
import { ensureToken } from './token-file.ts';

/** Address and token of a server. */
export interface RunningServer {
  readonly url: URL;
  readonly token: string;
  /** `Host` to send if the server's list of hosts does not include the address itself. */
  readonly hostHeader: string | undefined;
}

/** Parsed command line of a command that speaks to a server. */
export interface ClientCommand {
  readonly environment: NodeJS.ProcessEnv;
  readonly options: Readonly<Record<string, string | true>>;
  readonly operands: readonly string[];
}

/** One request. */
export interface ServerRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with query. */
  readonly path: string;
  readonly accept: string;
  readonly body?: unknown;
}

/**
 * Find the server: by `url`, else at the address in the settings.
 *
 * @throws {Error} If the settings leave the port open.
 * @throws {SettingsError} If the settings are invalid.
 */
export function findServer(environment: NodeJS.ProcessEnv, url: string | undefined): RunningServer {
  // A client has no workspace; any existing folder passes validation.
  const settings = loadSettings({ environment: { ...environment, GAUNTLET_WORKSPACE: tmpdir() }, isClient: true });
  const token = ensureToken(settings);
  if (url !== undefined) return { url: new URL(url), token, hostHeader: undefined };
  if (settings.port === 0) throw new Error('The port is 0, so any; name the server with --url');
  return {
    url: new URL(`http://${spellEndpoint({ host: reachable(settings.host), port: settings.port })}`),
    token,
    hostHeader: settings.allowedHosts[0],
  };
}

/**
 * Send one request.
 *
 * @returns The reply, its body not yet read.
 * @throws {Error} If no server answers, or it answers with an error.
 */
export async function send(
  server: RunningServer,
  { method, path, accept, body }: ServerRequest,
): Promise<IncomingMessage> {
  const url = new URL(path, server.url);
  const start = url.protocol === 'https:' ? requestHttps : requestHttp;
  const headers = {
    authorization: `Bearer ${server.token}`,
    accept,
    ...(server.hostHeader !== undefined && { host: server.hostHeader }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = start(url, { method, headers }, resolve);
    outgoing.once('error', (error) => reject(explainFailure(server.url, error)));
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
  const { statusCode = 0 } = reply;
  if (statusCode >= 200 && statusCode < 300) return reply;
  throw new Error(errorText(statusCode, await readText(reply)));
}

/** Find the server of a command line. @throws {Error} As `findServer`. */
export function serverOf({ environment, options: { url } }: ClientCommand): RunningServer {
  return findServer(environment, typeof url === 'string' ? url : undefined);
}

/** Send one request and parse the reply. @throws {Error} As `send`. */
export async function requestJson<Reply>(
  server: RunningServer,
  request: Omit<ServerRequest, 'accept'>,
): Promise<Reply> {
  return JSON.parse(await readText(await send(server, { ...request, accept: 'application/json' }))) as Reply;
}

/** Read the whole body as text. */
export async function readText(reply: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of reply.setEncoding('utf8')) text += String(chunk);
  return text;
}

/** Convert a listening address to one that can be connected to. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

function explainFailure(url: URL, error: NodeJS.ErrnoException): Error {
  const why = error.code === 'ECONNREFUSED' ? 'nothing listens there' : error.message;
  return new Error(`No server at ${url.origin}: ${why}. Start one with "gauntlet serve", or name it with --url`, {
    cause: error,
  });
}

function errorText(status: number, body: string): string {
  try {
    const { error } = JSON.parse(body) as { error: { code: string; message: string } };
    return `${error.message} (${error.code})`;
  } catch {
    // Not our error format, so another program answers there: only its status is known.
    return `The server answered with status ${status}`;
  }
}
