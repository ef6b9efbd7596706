/** PROTOCOL 1: how the server starts, and when it refuses to. */
import { existsSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runServer, serverHome, startServer } from '../helpers/built-server.ts';
import { wireClient } from '../helpers/wire-client.ts';

describe('the start', () => {
  it('tells the address first and keeps standard error to JSON lines', async () => {
    const server = await startServer();
    expect(server.printed()).toMatch(/^Listening on http:\/\/127\.0\.0\.1:\d+\n/);
    await wireClient(server).get('/tools');
    await server.end();
    for (const line of server.logged().split('\n').filter(Boolean)) expect(JSON.parse(line)).toBeTypeOf('object');
    expect(server.printed() + server.logged()).not.toContain(server.token);
  });

  it('makes a token at the first start, for its owner only, and keeps it', async () => {
    const first = await startServer({ environment: { GAUNTLET_TOKEN: '' } });
    const file = join(first.dataFolder, 'token');
    const token = readFileSync(file, 'utf8').trim();
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    expect(lstatSync(first.dataFolder).mode & 0o777).toBe(0o700);
    expect(token.length).toBeGreaterThanOrEqual(32);
    await first.end();
    const second = await startServer({ home: first.home, environment: { GAUNTLET_TOKEN: '' } });
    expect((await wireClient({ ...second, token }).get('/tools')).status).toBe(200);
  });

  it('takes the token from a file that was named', async () => {
    const home = serverHome();
    const file = join(home, 'my-token');
    writeFileSync(file, 'from-a-file-0123456789\n', { mode: 0o600 });
    const server = await startServer({ home, environment: { GAUNTLET_TOKEN: '', GAUNTLET_TOKEN_FILE: file } });
    expect((await wireClient({ ...server, token: 'from-a-file-0123456789' }).get('/tools')).status).toBe(200);
    expect(existsSync(join(server.dataFolder, 'token'))).toBe(false);
  });

  it.each([
    ['readable by others', 0o644],
    ['a link', 'link'],
  ])('refuses a token file that is %s', async (_what, mode) => {
    const home = serverHome();
    const file = join(home, 'data', 'token');
    const target = mode === 'link' ? join(home, 'elsewhere') : file;
    writeFileSync(target, 'from-a-file-0123456789\n', { mode: typeof mode === 'number' ? mode : 0o600 });
    if (mode === 'link') symlinkSync(target, file);
    const { code, stderr } = await runServer({ home, environment: { GAUNTLET_TOKEN: '' } });
    expect(code).toBe(78);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('from-a-file');
  });

  it('answers anybody who asks for its health or its description', async () => {
    const { url } = await startServer();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await wireClient({ url, token: '' }).get('/openapi.json')).status).toBe(200);
  });
});

describe('a setting that is wrong', () => {
  it.each<[string, object | undefined, Record<string, string>, string]>([
    ['another address without a token', undefined, { GAUNTLET_HOST: '0.0.0.0', GAUNTLET_TOKEN: '' }, 'GAUNTLET_HOST'],
    ['another address without hosts', undefined, { GAUNTLET_HOST: '0.0.0.0' }, 'GAUNTLET_ALLOWED_HOSTS'],
    ['any host', undefined, { GAUNTLET_ALLOWED_HOSTS: '*' }, 'GAUNTLET_ALLOWED_HOSTS'],
    ['any origin', undefined, { GAUNTLET_ALLOWED_ORIGINS: 'http://a.example,*' }, 'GAUNTLET_ALLOWED_ORIGINS'],
    ['the origin null', undefined, { GAUNTLET_ALLOWED_ORIGINS: 'null' }, 'GAUNTLET_ALLOWED_ORIGINS'],
    ['a port that is none', undefined, { GAUNTLET_PORT: 'ninety' }, 'GAUNTLET_PORT'],
    ['a workspace that is not there', undefined, { GAUNTLET_WORKSPACE: '/nowhere/at/all' }, 'GAUNTLET_WORKSPACE'],
    ['an unknown key', { toolMood: 'normal' }, {}, 'toolMood'],
    [
      'a tool mode that needs a REPL, where it is switched off',
      { toolMode: 'repl', features: { REPL: false } },
      {},
      '"features" switches REPL off',
    ],
    ['a mode that is none', { permissions: { defaultMode: 'sometimes' } }, {}, 'defaultMode'],
    ['a rule that is none', { permissions: { allow: ['Bash('] } }, {}, 'permissions'],
    ['an unknown limit', { limits: { bodyMegabytes: 4 } }, {}, 'bodyMegabytes'],
    ['a missing variable', { models: { a: { provider: 'openai', model: '${NOT_SET}' } } }, {}, 'NOT_SET'],
    ['concurrency of none', undefined, { GAUNTLET_MAX_TOOL_USE_CONCURRENCY: '0' }, 'CONCURRENCY'],
  ])('stops the start with one line and 78: %s', async (_what, settings, environment, named) => {
    const { code, stdout, stderr } = await runServer({ settings, environment });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain(named);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('may hold comments, and yields to the environment', async () => {
    const home = serverHome();
    writeFileSync(join(home, 'data', 'gauntlet.config.json'), '{\n  // a note\n  "toolMode": "normal" /* more */\n}');
    const server = await startServer({ home, environment: { GAUNTLET_SIMPLE: '1' } });
    const { body } = await wireClient(server).get('/tools');
    expect(body.tools.map(({ name }) => name)).toEqual(['Bash', 'Edit', 'Read']);
  });

  it('is not looked for in the workspace', async () => {
    const home = serverHome();
    writeFileSync(join(home, 'workspace', 'gauntlet.config.json'), '{"toolMode":"simple"}');
    const { body } = await wireClient(await startServer({ home })).get('/tools');
    expect(body.tools.length).toBeGreaterThan(3);
  });
});

describe('a second server on one data directory', () => {
  it('gives up with 78 when the first one stays', async () => {
    const { home } = await startServer();
    const { code, stderr } = await runServer({ home });
    expect(code).toBe(78);
    expect(stderr).toContain(join(home, 'data'));
  });

  it('takes over when the first one ends', async () => {
    const first = await startServer();
    const second = startServer({ home: first.home });
    await first.end();
    expect((await wireClient(await second).get('/tools')).status).toBe(200);
  });
});
