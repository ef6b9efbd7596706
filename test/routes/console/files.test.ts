/** The console's page and its files, as a browser gets them. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { listeningApp, rawExchange } from '../../helpers/listening-app.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const SCRIPT = `console.log(${JSON.stringify('x'.repeat(5_000))});`;

let server: Awaited<ReturnType<typeof listeningApp>>;

beforeAll(async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Console</title>');
  writeFileSync(join(folder, 'assets/index-DkX81_aQ.js'), SCRIPT);
  writeFileSync(join(folder, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  symlinkSync('/etc/passwd', join(folder, 'passwd'));
  server = await listeningApp({ consoleFolder: folder });
  writeFileSync(join(folder, 'late.txt'), 'was not there when the server started');
});

it('serves the page without a credential, under a policy that lets nothing else in', async () => {
  for (const path of ['/', '/console/', '/console/index.html']) {
    const reply = await fetch(server.url + path);
    expect(reply.status).toBe(200);
    expect(await reply.text()).toContain('<title>Console</title>');
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'$/,
      ),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-cache',
    });
  }
});

it('lets browsers keep files whose names hold a digest, and packs what gets shorter', async () => {
  const reply = await fetch(`${server.url}/console/assets/index-DkX81_aQ.js`);
  expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(reply.headers.get('content-encoding')).toBe('gzip');
  expect(await reply.text()).toBe(SCRIPT);
  const plain = await fetch(`${server.url}/console/assets/index-DkX81_aQ.js`, {
    headers: { 'accept-encoding': 'identity' },
  });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect((await fetch(`${server.url}/console/icon.svg`)).headers.get('cache-control')).toBe('no-cache');
});

it('serves nothing but what the build made', async () => {
  for (const path of [
    'passwd',
    'late.txt',
    'assets',
    '../package.json',
    '..%2f..%2fpackage.json',
    'assets/../icon.svg%00',
  ]) {
    const reply = await rawExchange(
      server.port,
      `GET /console/${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: close\r\n\r\n`,
    );
    expect(reply).toMatch(/^HTTP\/1\.1 40[014] /);
  }
});

it('checks Host and Origin as every route does', async () => {
  const reply = await rawExchange(server.port, 'GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
  expect(reply).toMatch(/^HTTP\/1\.1 403 /);
  expect((await fetch(`${server.url}/`, { headers: { origin: 'http://evil.example' } })).status).toBe(403);
});

it('says that the build has no console, or that it is switched off', async () => {
  const unbuilt = await listeningApp({ consoleFolder: join(temporaryFolder(), 'none') });
  const missing = await fetch(`${unbuilt.url}/`);
  expect(missing.status).toBe(404);
  expect(await missing.text()).toContain('This build of the server has no console');
  const off = await listeningApp();
  const refused = await fetch(`${off.url}/`);
  expect(refused.status).toBe(404);
  expect(await refused.json()).toMatchObject({
    error: { code: 'not_found', message: expect.stringContaining('"console"') },
  });
});
