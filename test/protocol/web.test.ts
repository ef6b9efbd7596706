/** The web tools through a built server: rules, questions, the list, and pages on its own thread. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const site = createServer(({ url }, reply) => {
  if (url?.startsWith('/search') === true) {
    return reply.end(JSON.stringify({ results: [{ title: 'Found', url: 'https://a.test/', content: 'words' }] }));
  }
  if (url === '/away') return reply.writeHead(302, { location: 'http://127.0.0.2/' }).end();
  return reply.setHeader('content-type', 'text/html').end('<title>Page</title><h1>Hello</h1><p>from <b>here</b></p>');
});
let port: number;
let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  port = (site.address() as AddressInfo).port;
  server = await startServer({
    settings: {
      webFetch: { allowPrivate: [`127.0.0.1:${port}`, 'localhost'] },
      webSearch: { engine: 'searxng', baseUrl: `http://127.0.0.1:${port}` },
      permissions: { allow: ['WebFetch(domain:127.0.0.1)', 'WebSearch'], deny: ['WebFetch(domain:localhost)'] },
    },
  });
  client = wireClient(server);
});

afterAll(() => {
  site.closeAllConnections();
  site.close();
});

const run = async (name: string, input: object) => {
  const id = await client.session({ mode: 'dontAsk' });
  const { results, calls } = await client.execute(id, [block(name, input)]);
  return { text: results[0]?.content ?? '', status: calls[0]?.status, code: calls[0]?.error_code };
};

it('a page that a rule allows is read on a thread of the built server', async () => {
  const { text, status } = await run('WebFetch', { url: `http://127.0.0.1:${port}/` });
  expect(status).toBe('ok');
  expect(text).toContain('Title: Page');
  expect(text).toContain('# Hello\n\nfrom **here**');
});

it('a page that a rule denies is not fetched, nor one that no rule allows, however it is spelled', async () => {
  expect(await run('WebFetch', { url: `http://localhost:${port}/` })).toMatchObject({ code: 'permission_denied' });
  expect(await run('WebFetch', { url: `http://LOCALHOST.:${port}/` })).toMatchObject({ code: 'permission_denied' });
  const { text, code } = await run('WebFetch', { url: 'https://example.com/' });
  expect(code).toBe('permission_denied');
  expect(text).toContain('WebFetch(domain:example.com)');
});

it('an address that is not public is refused although a rule allows it', async () => {
  const { text, code } = await run('WebFetch', { url: `http://127.0.0.1:${server.url.split(':').at(-1)}/healthz` });
  expect(code).toBe('tool_failed');
  expect(text).toContain('not public');
});

it('a redirect to another host is reported', async () => {
  const { text } = await run('WebFetch', { url: `http://127.0.0.1:${port}/away` });
  expect(text).toContain('was not fetched:\nhttp://127.0.0.2/');
});

it('a search answers with pages', async () => {
  expect((await run('WebSearch', { query: 'anything' })).text).toContain('1. Found\n   https://a.test/\n   words');
});
