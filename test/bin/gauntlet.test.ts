/** The commands as a shell runs them, against a server that answers as the protocol says. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const home = temporaryFolder();
const entry = join(import.meta.dirname, '../../bin/gauntlet.ts');
const seen: { path: string; host: string; token: string; body: string }[] = [];
let server: Server;
let url: string;

async function gauntlet(words: readonly string[], environment: Record<string, string> = {}, input = '') {
  const { stdout, stderr, exitCode } = await execa(process.execPath, ['--import', 'tsx', entry, ...words], {
    env: { PATH: process.env['PATH'], HOME: home, GAUNTLET_TOKEN: 'secret', ...environment },
    extendEnv: false,
    input,
    reject: false,
    stripFinalNewline: false,
  });
  return { stdout, stderr, code: exitCode };
}

async function answer(request: IncomingMessage): Promise<string> {
  const body = await text(request);
  const { url: path = '', headers } = request;
  seen.push({ path, body, host: headers.host ?? '', token: headers.authorization ?? '' });
  if (path.startsWith('/tools')) return path.includes('table') ? 'Read  reads a file' : '{"tools":[]}';
  const { tool_uses } = JSON.parse(body) as { tool_uses: readonly { id: string; name: string }[] };
  const [{ id, name }] = tool_uses as [{ id: string; name: string }];
  const status = name === 'Fail' ? 'error' : 'ok';
  if (headers.accept === 'application/json') return JSON.stringify({ results: [], calls: [{ status }] });
  const frames = [
    { type: 'tool_use', tool_use: { id } },
    { type: 'progress', data: { type: 'bash', stream: 'stdout', text: 'half way\n' } },
    { type: 'result', tool_result: { type: 'tool_result', tool_use_id: id, content: `ran ${name}` }, call: { status } },
    { type: 'turn_end' },
  ];
  return frames.map((frame) => `${JSON.stringify(frame)}\n`).join('');
}

beforeAll(async () => {
  server = createServer((request, reply) => void answer(request).then((body) => reply.end(body)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

describe('gauntlet exec', () => {
  it('prints the result, and progress beside it', async () => {
    const run = await gauntlet([
      'exec',
      'Read',
      '{"file_path":"a"}',
      '--url',
      url,
      '--session',
      's',
      '--on-ask',
      'wait',
    ]);
    expect(run).toEqual({ stdout: 'ran Read\n', stderr: 'half way\n', code: 0 });
    const { token, body } = seen.at(-1) ?? { token: '', body: '{}' };
    expect(token).toBe('Bearer secret');
    expect(JSON.parse(body)).toMatchObject({
      session_id: 's',
      on_ask: 'wait',
      tool_uses: [{ type: 'tool_use', name: 'Read', input: { file_path: 'a' } }],
    });
  });

  it('exits with 1 when the call did not end well, with --json too', async () => {
    expect(await gauntlet(['exec', 'Fail', '{}', '--url', url])).toMatchObject({ stdout: 'ran Fail\n', code: 1 });
    expect(await gauntlet(['exec', 'Fail', '{}', '--url', url, '--json'])).toMatchObject({ code: 1 });
  });

  it('reads the input from standard input', async () => {
    expect(await gauntlet(['exec', 'Read', '-', '--url', url], {}, '{"limit":3}')).toMatchObject({ code: 0 });
    expect(seen.at(-1)?.body).toContain('"input":{"limit":3}');
  });

  it('says when the input is not JSON', async () => {
    const run = await gauntlet(['exec', 'Read', 'ls', '--url', url]);
    expect(run).toMatchObject({ stdout: '', code: 64 });
    expect(run.stderr).toContain('not JSON');
  });
});

describe('gauntlet tools', () => {
  it('prints the table, found by the settings and under an allowed name', async () => {
    const port = new URL(url).port;
    const run = await gauntlet(['tools', '--port', port], { GAUNTLET_ALLOWED_HOSTS: 'gauntlet.example' });
    expect(run).toEqual({ stdout: 'Read  reads a file\n', stderr: '', code: 0 });
    expect(seen.at(-1)).toMatchObject({ host: 'gauntlet.example', path: '/tools?format=table' });
  });

  it('says in one line that no server runs', async () => {
    const run = await gauntlet(['tools', '--url', 'http://127.0.0.1:1']);
    expect(run).toMatchObject({ stdout: '', code: 1 });
    expect(run.stderr).toBe(
      'gauntlet: No server at http://127.0.0.1:1: nothing listens there. Start one with "gauntlet serve", or name it with --url\n',
    );
  });
});

describe('gauntlet', () => {
  it('makes a token and prints the same one again', async () => {
    const environment = { GAUNTLET_TOKEN: '', GAUNTLET_DATA_DIR: join(home, 'state') };
    const first = await gauntlet(['token'], environment);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^[\w-]{43}\n$/);
    expect(await gauntlet(['token'], environment)).toEqual(first);
  });

  it('exits with 78 and one line when a setting is wrong', async () => {
    const run = await gauntlet(['serve', '--host', '0.0.0.0'], { GAUNTLET_TOKEN: '' });
    expect(run).toMatchObject({ stdout: '', code: 78 });
    expect(run.stderr).toMatch(/^gauntlet: GAUNTLET_HOST[^\n]*GAUNTLET_TOKEN[^\n]*\n$/);
  });

  it('exits with 64 when the command line is wrong', async () => {
    expect(await gauntlet(['--nonsense'])).toMatchObject({ stdout: '', code: 64 });
  });

  it('tells its version', async () => {
    expect(await gauntlet(['--version'])).toMatchObject({
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      code: 0,
    });
  });
});
