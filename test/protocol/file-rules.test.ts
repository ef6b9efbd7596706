/**
 * Deny rules hold for every spelling, and what they hide is hidden from all five tools; patterns lead nowhere
 * that a path may not. Row numbers are those of the list of path attacks that this server is held to.
 */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer } from '../helpers/built-server.ts';
import { glob, grep, judge, read, write, type Judge } from '../helpers/file-calls.ts';
import { CANARY, fingerprint, layPathWorld } from '../helpers/path-world.ts';
import { wireClient, type WireClient } from '../helpers/wire-client.ts';

const MODES = ['default', 'acceptEdits', 'bypassPermissions'] as const;
const home = serverHome();
const root = join(home, 'workspace');

let client: WireClient;
let decision: Judge['decision'];
let outcome: Judge['outcome'];
let before: string;
let closeSocket: () => void;

beforeAll(async () => {
  closeSocket = await layPathWorld(home);
  writeFileSync(join(home, 'rg.conf'), '--pre=/bin/false\n--follow\n');
  const environment = { RIPGREP_CONFIG_PATH: join(home, 'rg.conf') };
  client = wireClient(await startServer({ home, isUnprivileged: true, environment }));
  before = fingerprint(join(home, 'outside'));
  ({ decision, outcome } = judge(client, home));
});
afterAll(() => {
  closeSocket();
  expect(fingerprint(join(home, 'outside'))).toBe(before);
});

const SECRET_RULES = ['Read(secret)', 'Edit(secret)', 'Read(.env*)', 'Edit(.env*)', 'Read(caf\u00e9.txt)'];

describe('a deny rule', () => {
  it.each([
    [6, 'secret/./key.txt'],
    [6, 'secret//key.txt'],
    [6, `${root}/secret/key.txt`],
    [7, 'secret/'],
    [7, 'secret'],
    [8, 'src/../.env'],
    [8, './/.env'],
    [8, './.env'],
    [8, 'sub/.env.local'],
    [14, 'shown/key.txt'],
    [15, 'shown'],
    [39, 'caf\u00e9.txt'],
    [39, 'cafe\u0301.txt'],
    [46, '~/workspace/.env'],
  ])('holds for each spelling, in every mode: row %i, %s', async (_row, path) => {
    for (const mode of MODES) {
      const sessionId = await client.session({ mode, rules: { allow: ['Read', 'Edit', 'Grep'], deny: SECRET_RULES } });
      for (const call of [read(path), grep('canary', { path })]) {
        expect({ call, is: await decision(sessionId, call) }).toEqual({ call, is: 'deny' });
        expect((await outcome(sessionId, call)).text).not.toContain(CANARY);
      }
      if (!path.includes('caf')) expect(await decision(sessionId, write(path))).toBe('deny');
    }
  });

  it.each([
    'Read(/secret)',
    'Read(secret/)',
    'Read(./secret/**)',
    `Read(/${root}/secret/**)`,
    'Read(~/workspace/secret)',
  ])('may end in a slash or not: row 7, %s', async (rule) => {
    const sessionId = await client.session({ rules: { deny: [rule] } });
    for (const path of ['secret/key.txt', 'shown/key.txt']) expect(await decision(sessionId, read(path))).toBe('deny');
    expect((await outcome(sessionId, grep('canary'))).text).not.toContain('key.txt');
  });

  it.each(MODES)('hides names from Glob and lines from Grep, in mode %s: rows 55 and 62', async (mode) => {
    const sessionId = await client.session({ mode, rules: { deny: [...SECRET_RULES, 'Read(.hidden/**)'] } });
    const calls = [glob('**'), glob('**/*', '.'), grep('canary'), grep('.', { glob: '**' })];
    const modes = ['files_with_matches', 'count'].map((output_mode) => grep('canary', { output_mode }));
    for (const call of [...calls, ...modes, glob('*', 'shown'), glob('{secret,shown}/*'), grep('c', { path: 'sub' })]) {
      const { text } = await outcome(sessionId, call);
      expect(text).not.toMatch(/key\.txt|\.env|caf|\.hidden|canary-in/);
    }
  });
});

describe('an allow rule', () => {
  it('must be hit by where a path really leads: row 14', async () => {
    const sessionId = await client.session({
      rules: { allow: ['Read(link)', 'Read(linkdir/**)', 'Edit(linkdir/**)'] },
    });
    for (const call of [read('link'), read('linkdir/secret.txt'), write('linkdir/new.txt')]) {
      expect(await decision(sessionId, call)).toBe('ask');
    }
    const real = await client.session({ rules: { allow: [`Read(/${home}/outside/**)`] } });
    expect(await decision(real, read('link'))).toBe('allow');
  });
});

describe('a pattern', () => {
  it.each([
    [56, '../**'],
    [56, '/etc/**'],
    [56, '{../,}**'],
    [56, 'src/../../**'],
    [56, 'linkdir/**'],
    [56, '~/**'],
    [56, '{src,../outside}/*'],
  ])('that leads outside is asked about: row %i, %s', async (_row, pattern) => {
    const sessionId = await client.session({ mode: 'acceptEdits' });
    expect(await decision(sessionId, glob(pattern))).toBe('ask');
    expect((await outcome(sessionId, glob(pattern))).text).not.toContain('secret.txt"');
  });

  it.each(['/proc/**', '/dev/*', '/proc/self/root/**'])(
    'that leads into the kernel is refused: row 56, %s',
    async (p) => {
      expect(await decision(await client.session({ mode: 'bypassPermissions' }), glob(p))).toBe('deny');
    },
  );

  it('never leads through a link: row 23', async () => {
    const sessionId = await client.session();
    symlinkSync('../../outside', join(root, 'src', 'out'));
    for (const call of [glob('**'), grep('canary'), grep('canary', { path: 'src' }), glob('**/secret.txt')]) {
      const { status, text } = await outcome(sessionId, call);
      expect({ status, leaks: /secret\.txt/.test(text) }).toEqual({ status: 'ok', leaks: false });
    }
  });

  it('never becomes an option of the search: rows 42 and 59', async () => {
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    for (const call of [grep('--pre=sh'), grep('-f/etc/passwd'), grep('x', { glob: '--pre=sh' })]) {
      expect(await outcome(sessionId, call)).toMatchObject({ status: 'ok' });
    }
    expect((await outcome(sessionId, grep('option', { path: '--pre=sh' }))).text).toContain('option');
    expect((await outcome(sessionId, glob('-*'))).text).toContain('-rf');
    for (const type of ['js --pre=sh', '--pre', 'x;y', 'JS']) {
      expect(await decision(sessionId, grep('x', { type }))).toBe('wrong');
    }
    expect((await outcome(sessionId, grep('canary', { glob: '!**' }))).text).not.toContain(CANARY);
  });

  it('is searched for without the settings of ripgrep: row 60', async () => {
    expect((await outcome(await client.session(), grep('alpha', { path: 'a.txt' }))).text).toContain('alpha');
  });

  it('that would freeze a backtracking engine is answered at once: row 58', async () => {
    writeFileSync(join(root, 'evil.txt'), `${'a'.repeat(100_000)}!`);
    const sessionId = await client.session();
    expect(await outcome(sessionId, grep('(a+)+$', { path: 'evil.txt' }))).toMatchObject({ status: 'ok' });
    for (const pattern of [`${'**/'.repeat(30)}x`, '{1..100000}', `${'{a,b,c,d}'.repeat(4)}x`, `${'*a'.repeat(40)}b`]) {
      expect((await outcome(sessionId, glob(pattern))).status).toMatch(/^(ok|error)$/);
    }
  });

  it('over one long line prints a piece of it: row 61', async () => {
    const { text } = await outcome(await client.session(), grep('x', { path: 'long-line.txt' }));
    expect(text.length).toBeLessThan(2_000);
  });
});
