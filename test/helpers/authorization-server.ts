/**
 * An authorization server, and an MCP server that takes its tokens, on two ports of loopback in this process.
 *
 * It grants what is asked for at once; the options make it misbehave.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { listen, pipeFetch } from './mcp-http.ts';

/** What a test changes, at the start or later. */
export interface AuthorizationOptions {
  /** Replaces members of the metadata of the authorization server; `undefined` leaves one out. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Replaces members of the metadata of the MCP server. */
  readonly resourceMetadata?: Readonly<Record<string, unknown>>;
  /** Serves the metadata at this path alone; default: that of RFC 8414. */
  readonly metadataPath?: string;
  /** `iss` of the answer; absent for the right one, null for none. */
  readonly iss?: string | null;
  /** Scopes that the tool `write` wants. */
  readonly writeScope?: string;
  /** Scope of each token, whatever was asked for. */
  readonly grantsOnly?: string;
  /** Answers the token endpoint in place of tokens. */
  readonly tokenReply?: (form: URLSearchParams) => { readonly status: number; readonly body: string };
  readonly clients?: Readonly<Record<string, string>>;
  /** The tool `write` is refused whatever the scope. */
  readonly refusesAlways?: boolean;
  /** The MCP server redirects each request to this address. */
  readonly redirectsTo?: string;
  /** Access tokens are refused after this many uses, renewed ones are not. */
  readonly usesPerToken?: number;
}

/** A request that the authorization server got. */
export interface SeenRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
  /** Body of a registration. */
  readonly json?: unknown;
}

interface Token {
  readonly clientId: string;
  readonly scope: string;
  readonly resource: string;
  readonly isRenewed: boolean;
  uses: number;
}

/** Start both servers; they end with the test. */
export async function authorizationServer(initial: AuthorizationOptions = {}) {
  let options = initial;
  const seen: SeenRequest[] = [];
  const codes = new Map<string, URLSearchParams>();
  const tokens = new Map<string, Token>();
  const refreshable = new Map<string, Token>();
  let issuer = '';
  let resource = '';

  function metadata(): object {
    const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
    return {
      issuer,
      ...endpoints,
      registration_endpoint: `${issuer}/register`,
      revocation_endpoint: `${issuer}/revoke`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      ...options.metadata,
    };
  }

  function grant(clientId: string, scope: string, isRenewed = false) {
    const token = { clientId, scope: options.grantsOnly ?? scope, resource, uses: 0, isRenewed };
    const granted = { access_token: `access-${randomUUID()}`, refresh_token: `refresh-${randomUUID()}` };
    tokens.set(granted.access_token, token);
    refreshable.set(granted.refresh_token, token);
    return { status: 200, body: { ...granted, token_type: 'bearer', expires_in: 3_600, scope: token.scope } };
  }

  const refuse = (error: string) => ({ status: 400, body: { error } });

  function exchange(form: URLSearchParams, clientId: string) {
    if (form.get('resource') !== resource) return refuse('invalid_target');
    if (form.get('grant_type') === 'client_credentials') return grant(clientId, form.get('scope') ?? '');
    if (form.get('grant_type') === 'refresh_token') {
      const known = refreshable.get(form.get('refresh_token') ?? '');
      refreshable.delete(form.get('refresh_token') ?? '');
      return known?.clientId === clientId ? grant(clientId, known.scope, true) : refuse('invalid_grant');
    }
    const asked = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      asked?.get('client_id') === clientId &&
      asked.get('code_challenge') === challenge &&
      asked.get('redirect_uri') === form.get('redirect_uri');
    return isRight ? grant(clientId, asked.get('scope') ?? '') : refuse('invalid_grant');
  }

  async function authorize(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', issuer);
    const body = await text(request);
    const isJson = request.headers['content-type'] === 'application/json';
    const form = isJson ? new URLSearchParams() : new URLSearchParams(body);
    const { authorization } = request.headers;
    const fields = Object.fromEntries([...searchParams, ...form]);
    seen.push({ path: pathname, authorization, fields, ...(isJson && { json: JSON.parse(body) as unknown }) });
    const send = (status: number, reply: object | string) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof reply === 'string' ? reply : JSON.stringify(reply));
    };
    if (pathname === (options.metadataPath ?? '/.well-known/oauth-authorization-server')) return send(200, metadata());
    if (pathname === '/register')
      return send(201, { ...(JSON.parse(body) as object), client_id: `made-${randomUUID()}` });
    if (pathname === '/revoke') {
      tokens.delete(form.get('token') ?? '');
      return send(200, {});
    }
    if (pathname === '/token') {
      if (options.tokenReply) {
        const reply = options.tokenReply(form);
        return send(reply.status, reply.body);
      }
      const [id = '', secret = ''] = authorization?.startsWith('Basic ')
        ? Buffer.from(authorization.slice(6), 'base64').toString().split(':')
        : [form.get('client_id') ?? '', form.get('client_secret') ?? ''];
      const expected = options.clients?.[id];
      if (expected !== undefined && expected !== secret) return send(401, { error: 'invalid_client' });
      const reply = exchange(form, id);
      return send(reply.status, reply.body);
    }
    if (pathname !== '/authorize') return send(404, {});
    const code = randomUUID();
    codes.set(code, searchParams);
    const target = new URL(searchParams.get('redirect_uri') ?? '');
    target.searchParams.set('code', code);
    target.searchParams.set('state', searchParams.get('state') ?? '');
    if (options.iss !== null) target.searchParams.set('iss', options.iss ?? issuer);
    response.writeHead(302, { location: target.href }).end();
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const origin = new URL(resource).origin;
    if (options.redirectsTo !== undefined) {
      return void response.writeHead(307, { location: options.redirectsTo }).end();
    }
    if (request.url?.startsWith('/.well-known/') === true) {
      const isFound = request.url === '/.well-known/oauth-protected-resource/mcp';
      response.writeHead(isFound ? 200 : 404, { 'content-type': 'application/json' });
      const document = { resource, authorization_servers: [issuer], ...options.resourceMetadata };
      return void response.end(JSON.stringify(document));
    }
    const challenge = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
    const token = tokens.get(request.headers.authorization?.replace('Bearer ', '') ?? '');
    const isSpent = token?.isRenewed === false && token.uses >= (options.usesPerToken ?? Infinity);
    if (token === undefined || isSpent) {
      response.writeHead(401, { 'www-authenticate': `Bearer scope="read", ${challenge}` }).end();
      return;
    }
    token.uses += 1;
    const wanted = request.headers['mcp-name'] === 'write' ? options.writeScope : undefined;
    if (wanted !== undefined && (options.refusesAlways === true || !token.scope.split(' ').includes(wanted))) {
      const why = `Bearer error="insufficient_scope", scope="${wanted}", ${challenge}`;
      response.writeHead(403, { 'www-authenticate': why }).end();
      return;
    }
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: 'protected', version: '1' });
      const answer = () => ({ content: [{ type: 'text' as const, text: `${token.clientId} ${token.scope}` }] });
      server.registerTool('whoami', {}, answer);
      server.registerTool('write', {}, answer);
      return server;
    });
    await pipeFetch(request, response, (asked) => handler.fetch(asked));
  }

  issuer = new URL((await listen(authorize)).url).origin;
  resource = (await listen(serve)).url;
  return {
    /** Address of the MCP server. */
    url: resource,
    issuer,
    /** Requests to one path of the authorization server. */
    seen: (path: string) => seen.filter((request) => request.path === path),
    tokens: () => [...tokens.keys()],
    change: (changes: AuthorizationOptions) => void (options = { ...options, ...changes }),
  };
}
