/** The files that a start reads may be anything: the start then ends with 78 and one line, soon. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runServer, serverHome, startServer } from '../helpers/built-server.ts';
import { wireClient } from '../helpers/wire-client.ts';

const HUGE_BYTES = 5 * 1_024 ** 3;

/** Each makes a file at a path, or names another. */
const ODD: readonly (readonly [what: string, make: (path: string) => string | void])[] = [
  ['/dev/zero', () => '/dev/zero'],
  ['a folder', (path) => void mkdirSync(path)],
  ['a pipe', (path) => void execFileSync('mkfifo', [path])],
  ['sparse and huge', (path) => void (writeFileSync(path, ''), truncateSync(path, HUGE_BYTES))],
  ['a link to a device', (path) => void symlinkSync('/dev/zero', path)],
  ['a link to itself', (path) => void symlinkSync(path, path)],
  ['not UTF-8', (path) => void writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d]))],
  ['/proc/self/environ', () => '/proc/self/environ'],
];

function oddFile(make: (path: string) => string | void): { home: string; path: string } {
  const home = serverHome();
  const path = join(home, 'odd');
  return { home, path: make(path) ?? path };
}

async function refusal(options: Parameters<typeof runServer>[0]): Promise<string> {
  const began = performance.now();
  const { code, stderr } = await runServer(options);
  expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 78, lines: 1 });
  expect(performance.now() - began).toBeLessThan(10_000);
  return stderr;
}

describe.each(['GAUNTLET_CONFIG', 'GAUNTLET_POLICY', 'GAUNTLET_TOKEN_FILE'])('A31: a file of %s', (variable) => {
  it.each(ODD)('that is %s ends the start', async (_what, make) => {
    const { home, path } = oddFile(make);
    const environment = { GAUNTLET_TOKEN: '', [variable]: path };
    expect(await refusal({ home, environment })).toContain(variable);
  });
});

describe('A31: the token of the data directory', () => {
  it.each(ODD.filter(([what]) => !what.startsWith('/')))('that is %s ends the start', async (_what, make) => {
    const home = serverHome();
    make(join(home, 'data', 'token'));
    chmodSync(join(home, 'data'), 0o700);
    await refusal({ home, environment: { GAUNTLET_TOKEN: '' } });
  });
});

describe('A31: a plugin', () => {
  it.each(ODD.filter(([what]) => what !== 'not UTF-8'))('that is %s ends the start', async (_what, make) => {
    const { home, path } = oddFile(make);
    expect(await refusal({ home, settings: { plugins: [path] } })).toContain('plugin');
  });
});

describe('A30: what a workspace brings along', () => {
  it('configures nothing', async () => {
    const home = serverHome();
    const root = join(home, 'workspace');
    for (const folder of ['.gauntlet', '.claude']) mkdirSync(join(root, folder));
    const settings = {
      permissions: { allow: ['Bash', 'Write'], defaultMode: 'bypassPermissions' },
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: `touch ${join(home, 'ran')}` }] }] },
      mcpServers: { own: { command: 'touch', args: [join(home, 'ran')] } },
    };
    const names = [
      '.gauntlet/settings.json',
      '.gauntlet/settings.local.json',
      '.claude/settings.json',
      '.mcp.json',
      'gauntlet.config.json',
    ];
    for (const name of names) writeFileSync(join(root, name), JSON.stringify(settings));
    const client = wireClient(await startServer({ home }));
    const sessionId = await client.session();
    const explained = await client.post(`/sessions/${sessionId}/permissions/explain`, {
      name: 'Bash',
      input: { command: 'touch x' },
    });
    expect(explained.body).toMatchObject({ behavior: 'ask' });
    expect((await client.get(`/sessions/${sessionId}`)).body['mode']).toBe('default');
    expect((await client.get('/tools')).text).not.toContain('mcp__own');
  });
});
