/** What `dist/` holds runs like the sources: parts that load when they are first asked for too. */
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setup } from '../../bin/setup.mjs';
import { type LongRunning, longRunning } from '../helpers/long-running.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const home = temporaryFolder();
const headers = { authorization: 'Bearer a-token-for-the-build' };
let server: LongRunning;
let url: string;

beforeAll(async () => {
  await setup({ forTests: true, programs: false });
  const built = join(import.meta.dirname, '../../dist/gauntlet.js');
  server = await longRunning([process.execPath, built, '--port', '0'], /Listening on \S+\n/, {
    cwd: temporaryFolder(),
    env: { PATH: process.env['PATH'], HOME: home, GAUNTLET_TOKEN: 'a-token-for-the-build' },
  });
  url = /http:\S+/.exec(server.printed)?.[0] ?? '';
});

afterAll(() => server.stop());

test.each([
  ['/metrics', 'gauntlet_sessions_open'],
  ['/docs/swagger-ui-bundle.js', 'SwaggerUIBundle'],
  ['/openapi.json', '"openapi":"3.1.0"'],
])('the built server answers %s', async (path, expected) => {
  const reply = await fetch(url + path, { headers });
  expect(reply.status).toBe(200);
  expect(await reply.text()).toContain(expected);
});

test('the console is less than 200 KB to load', async () => {
  const page = await (await fetch(url)).text();
  const paths = [...page.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path = '']) => path);
  const bytes = await Promise.all(['/', ...paths].map((path) => gzippedBytes(`${url}${path}`)));
  expect(paths.length).toBeGreaterThanOrEqual(2);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(200_000);
});

async function gzippedBytes(address: string): Promise<number> {
  return gzipSync(Buffer.from(await (await fetch(address)).arrayBuffer())).length;
}
