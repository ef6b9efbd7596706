/** The built client on each platform that it is for: Node, Deno and Bun from the registry, and a page in Chromium. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserTest } from '../helpers/browser-test.ts';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const folder = temporaryFolder();
const PROGRAM = `
import * as client from './dist/index.js';
import { scenario } from './scenario.mjs';
const [url, token] = process.argv.slice(2);
console.log(JSON.stringify(await scenario(client, { url, token })));
process.exit(0);
`;
const EXPECTED = {
  tools: ['Bash', 'Read'],
  written: true,
  read: [false, true],
  streamed: ['streamed'],
  seen: ['tool_use', 'started', 'result'],
  asked: ['Write', 'Bash'],
  aborted: 'no longer wanted',
};

/** A server of the page, which is of another origin than Gauntlet. */
const pages = createServer((request, response) => {
  const path = new URL(request.url ?? '/', 'http://page').pathname;
  const type = path.endsWith('.js') || path.endsWith('.mjs') ? 'text/javascript' : 'text/html';
  const body =
    type === 'text/html' ? '<!doctype html><title>A page</title>' : readFileSync(join(folder, normalize(path)));
  response.writeHead(200, { 'content-type': type }).end(body);
});
let origin: string;
let server: BuiltServer;

beforeAll(async () => {
  await execa(process.execPath, [join(root, 'client/build.mjs'), join(folder, 'dist')]);
  copyFileSync(join(root, 'test/fixtures/client-scenario.mjs'), join(folder, 'scenario.mjs'));
  writeFileSync(join(folder, 'program.mjs'), `import process from 'node:process';${PROGRAM}`);
  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  await execa('npm', ['install', '--ignore-scripts', 'deno', 'bun', 'ws'], { cwd: folder });
  pages.listen(0, '127.0.0.1');
  await once(pages, 'listening');
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  server = await startServer({ settings: { allowedOrigins: [origin] } });
});

afterAll(() => void pages.close());

async function outcomeOf(program: string, words: readonly string[]): Promise<unknown> {
  const { stdout } = await execa(program, [...words, server.url, server.token], { cwd: folder });
  return JSON.parse(stdout);
}

describe('the client', () => {
  it('works in Node, with a WebSocket of its own or one that is handed in', async () => {
    const handedIn = PROGRAM.replace('(client,', '({ connect: (o) => client.connect({ ...o, WebSocket }) },');
    writeFileSync(join(folder, 'node.mjs'), `import { WebSocket } from 'ws';\n${handedIn}`);
    expect(await outcomeOf(process.execPath, ['node.mjs'])).toEqual(EXPECTED);
  });

  it('works in Deno, which lets it do nothing but reach the server', async () => {
    const deno = join(folder, `node_modules/@deno/linux-${process.arch}-glibc/deno`);
    expect(await outcomeOf(deno, ['run', '--no-prompt', '--allow-net=127.0.0.1', 'program.mjs'])).toEqual(EXPECTED);
  });

  it('works in Bun', async () => {
    const bun = join(folder, `node_modules/@oven/bun-linux-${process.arch}/bin/bun`);
    expect(await outcomeOf(bun, ['program.mjs'])).toEqual(EXPECTED);
  });

  browserTest('works in a page of another origin that the settings allow', async (browser) => {
    const page = await browser.newPage();
    await page.goto(origin);
    // As text: the test's own imports are rewritten.
    const address = JSON.stringify({ url: server.url, token: server.token });
    const outcome: unknown = await page.evaluate(
      `Promise.all([import('/dist/index.js'), import('/scenario.mjs')])
        .then(([client, { scenario }]) => scenario(client, ${address}))`,
    );
    expect(outcome).toEqual(EXPECTED);
  });
});
