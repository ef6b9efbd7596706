/** HARDENING A23: which addresses may be asked for at all, and how redirects are followed. */
import { expect, it } from 'vitest';
import { type PageUrl, readPageUrl, redirectKind } from '../../../tools/web/web-fetch/page-url.ts';

function page(text: string): PageUrl {
  const found = readPageUrl(text);
  if ('problem' in found) throw new Error(found.problem);
  return found;
}

it.each([
  ['file:///etc/passwd', 'http or https'],
  ['data:text/html,x', 'http or https'],
  ['ftp://example.com/', 'http or https'],
  ['javascript:alert(1)', 'http or https'],
  ['gopher://example.com/', 'http or https'],
  ['example.com', 'not an absolute address'],
  ['//example.com', 'not an absolute address'],
  ['http://', 'not an absolute address'],
  ['http://999.1.1.1/', 'not an absolute address'],
  ['https://user:secret@example.com/', 'user name'],
  ['https://example.com@evil.test/', 'user name'],
  ['http://exam\u200bple.com/', 'invisible characters'],
  ['http://example.com/\r\nX: y', 'invisible characters'],
  ['http://exa*mple.com/', 'neither a host name'],
  ['http://example.com:25/', 'port 25'],
  ['http://example.com:22/', 'port 22'],
  ['http://example.com:6667/', 'port 6667'],
])('%j is refused: %s', (text, problem) => {
  expect(readPageUrl(text)).toMatchObject({ problem: expect.stringContaining(problem) as unknown });
});

it.each([
  ['http://127.1/', '127.0.0.1', 80],
  ['http://0/', '0.0.0.0', 80],
  ['http://2130706433/', '127.0.0.1', 80],
  ['http://0x7f000001/', '127.0.0.1', 80],
  ['http://0177.0.0.1/', '127.0.0.1', 80],
  ['http://１２７.0.0.1/', '127.0.0.1', 80],
  ['http://[::ffff:7f00:1]/', '::ffff:7f00:1', 80],
  ['http://[0:0:0:0:0:0:0:1]:81/', '::1', 81],
  ['http://localhost./', 'localhost', 80],
  ['https://EXAMPLE.com./#part', 'example.com', 443],
])('%s leads to %s port %d, however it is spelled', (text, host, port) => {
  expect(page(text).endpoint).toEqual({ host, port });
});

it.each([
  ['http://a.test/x', 'http://a.test/y', 'follow'],
  ['https://a.test/x', 'https://A.test.:443/y', 'follow'],
  ['http://a.test/', 'https://a.test/', 'judge'],
  ['https://a.test/', 'http://a.test/', 'report'],
  ['http://a.test/', 'http://a.test:8080/', 'report'],
  ['http://a.test:8080/', 'https://a.test/', 'report'],
  ['http://a.test/', 'http://www.a.test/', 'report'],
  ['http://a.test/', 'http://127.0.0.1/', 'report'],
])('a redirect from %s to %s: %s', (from, to, kind) => {
  expect(redirectKind(page(from), page(to))).toBe(kind);
});
