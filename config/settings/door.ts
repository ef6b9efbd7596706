/**
 * Schemas of single values: host, port, token, host names and origins.
 */
import { isIP } from 'node:net';
import * as z from 'zod';

/** An address or name to listen on, without a port. */
export const listenHost = z.string().regex(/^[\w.:-]+$/, 'must be an address such as "127.0.0.1" or a host name');

/** A port; 0 picks a free one. */
export const portNumber = z.int('must be a whole number from 0 to 65535').min(0).max(65_535);

/** A bearer token: what an `Authorization` header can carry. */
export const tokenText = z.string().regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without spaces');

/** A pino level. */
export const logLevel = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']);

/** A host name or address, with or without a port, in lower case. A pattern would let any site in. */
export const allowedHost = z
  .string()
  .toLowerCase()
  .refine(
    (host) => host !== 'null' && isHost(host),
    'must be host names such as "gauntlet.example.com"; "*" and "null" are refused',
  );

/** An origin exactly as a browser sends it. */
export const allowedOrigin = z
  .string()
  .refine(isOrigin, 'must be origins such as "https://app.example.com"; "*" and "null" are refused');

/** Tells whether only this machine can reach an address that the server listens on. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

function isHost(host: string): boolean {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9._-]*[a-z0-9])?)(:\d{1,5})?$/.exec(host);
  if (!match) return false;
  const name = match[1] ?? '';
  return !name.startsWith('[') || isIP(name.slice(1, -1)) === 6;
}

function isOrigin(origin: string): boolean {
  return /^https?:\/\//.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin;
}
