/**
 * The path gate over the wire, a row a trap. Row numbers are those of the list of path attacks that this
 * server is held to.
 *
 * Nothing here names a real file to write: a gate that fails meets decoys, and a server that may harm little.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { create, glob, grep, judge, read, write, type Judge } from '../helpers/file-calls.ts';
import { CANARY, fingerprint, layPathWorld } from '../helpers/path-world.ts';
import { wireClient, type WireClient } from '../helpers/wire-client.ts';

const MODES = ['default', 'acceptEdits', 'bypassPermissions'] as const;
const home = serverHome();
const root = join(home, 'workspace');
const around = ['outside', 'workspace-evil'].map((name) => join(home, name));

let server: BuiltServer;
let client: WireClient;
let decision: Judge['decision'];
let outcome: Judge['outcome'];
let before: readonly string[];
let closeSocket: () => void;

beforeAll(async () => {
  closeSocket = await layPathWorld(home);
  server = await startServer({ home, isUnprivileged: true });
  before = around.map(fingerprint);
  client = wireClient(server);
  ({ decision, outcome } = judge(client, home));
});
afterAll(() => {
  closeSocket();
  expect(around.map(fingerprint)).toEqual(before);
});

describe('A21: a path outside', () => {
  it.each([
    [1, '../../etc/passwd'],
    [2, 'src/../../other/x'],
    [3, `${root}-evil/x`],
    [4, `${root}/../workspace-evil/x`],
    [14, 'link'],
    [15, 'linkdir/secret.txt'],
    [15, 'linkdir/new.txt'],
    [17, 'chain'],
    [46, '~/x'],
    [54, '~/.bashrc'],
    [54, '~/.ssh/authorized_keys'],
  ])('is asked about, whatever edits the mode allows: row %i, %s', async (_row, path) => {
    for (const mode of ['default', 'acceptEdits']) {
      const sessionId = await client.session({ mode });
      for (const call of [read(path), write(path), create(path)]) expect(await decision(sessionId, call)).toBe('ask');
    }
  });

  it.each([
    [1, '../outside/secret.txt'],
    [3, `${root}-evil/x`],
    [4, `${root}/../workspace-evil/x`],
    [14, 'link'],
    [15, 'linkdir/secret.txt'],
    [17, 'chain'],
  ])('is neither read nor written unasked: row %i, %s', async (_row, path) => {
    const sessionId = await client.session({ mode: 'acceptEdits' });
    for (const call of [read(path), write(path), create(path), grep('canary', { path }), glob('*', path)]) {
      const { status, text } = await outcome(sessionId, call);
      expect({ call, status }).toEqual({ call, status: 'denied' });
      expect(text).not.toContain(CANARY);
    }
  });
});

describe('A21: what is never a file', () => {
  it.each([
    [12, 'missing/../a.txt'],
    [16, 'dangling'],
    [17, 'loop-a'],
    [25, '/dev/zero'],
    [25, '/dev/urandom'],
    [25, '/dev/full'],
    [26, '/dev/stdin'],
    [26, '/dev/fd/0'],
    [26, '/dev/tty'],
    [26, '/proc/self/fd/1'],
    [26, 'descriptors/0'],
    [29, '/proc/self/environ'],
    [29, `/proc/${process.pid}/environ`],
    [29, '/proc/self/mem'],
    [29, '/proc/kcore'],
    [29, '/sys/kernel/x'],
    [30, '/proc/self/root/etc/passwd'],
    [30, '/proc/self/cwd/../x'],
    [30, '/proc/1/root/etc/passwd'],
    [38, 'safe.txt\0.png'],
    [41, 'a\u202etxt.exe'],
    [41, 'a\u200bb'],
    [41, 'a\x1b[2Jb'],
    [41, 'a\rb'],
    [41, 'a\nb'],
    [45, '\\\\server\\share\\x'],
    [45, '//server/share/x'],
    [45, '\\\\?\\C:\\x'],
    [45, '\\??\\UNC\\server\\x'],
    [45, 'C:\\x'],
    [47, 'file:///etc/passwd'],
    [47, 'FILE:/etc/passwd'],
    [47, 'http://a/b'],
    [48, 'x'.repeat(5_000)],
    [48, 'x'.repeat(300)],
    [48, 'a/'.repeat(100_000)],
  ])('is refused in every mode: row %i, %.40j', async (_row, path) => {
    for (const mode of MODES) {
      const sessionId = await client.session({ mode });
      const calls = [read(path), write(path), create(path), grep('x', { path }), glob('*', path)];
      for (const call of calls) expect({ call, is: await decision(sessionId, call) }).toEqual({ call, is: 'deny' });
      const { status, text } = await outcome(sessionId, read(path));
      expect({ status, isShort: text.length < 1_000 }).toEqual({ status: 'denied', isShort: true });
      expect(JSON.parse(text)).toMatch(/^[^\p{Cc}\p{Cf}]*$/u);
    }
  });

  it.each([[{ url: 'file:///etc/passwd' }], [['a.txt']], [7], [null], ['']])(
    'is refused by its schema: row 47, %j',
    async (file_path) => {
      const sessionId = await client.session();
      for (const [name, input] of [read(''), write(''), create('')]) {
        expect(await decision(sessionId, [name, { ...input, file_path }])).toBe('wrong');
      }
    },
  );
});

describe('a spelling of a file inside', () => {
  it.each([
    [6, './a.txt'],
    [6, './/a.txt'],
    [6, `${root}//a.txt`],
    [6, `${root}/./src/../a.txt`],
    [6, 'a.txt/.'],
    [8, 'src/../a.txt'],
    [8, 'inner/../a.txt'],
    [42, '-rf'],
    [50, '[a].txt'],
    [50, '{x}'],
  ])('means that file and no other: row %i, %s', async (_row, path) => {
    const sessionId = await client.session();
    const name = path.includes('a.txt') && !path.startsWith('[') ? 'alpha' : '(?:brackets|braces|dash)';
    expect((await outcome(sessionId, read(path))).text).toMatch(new RegExp(`1\\\\t${name}`));
  });

  it.each([
    [10, '%2e%2e/x'],
    [10, '..%2fx'],
    [11, '....//x'],
    [11, '..;/x'],
    [43, '.env '],
    [46, '~root/x'],
    [46, '~+/x'],
    [46, '$HOME/x'],
    [46, '${HOME}'],
    [46, '%HOME%/x'],
  ])('that is only odd is a name like any other: row %i, %s', async (_row, path) => {
    const sessionId = await client.session({ mode: 'acceptEdits' });
    expect(await decision(sessionId, read(path))).toBe('allow');
    expect((await outcome(sessionId, read(path))).text).toContain('does not exist');
    expect(await outcome(sessionId, write(path))).toMatchObject({ status: 'ok' });
    expect(readFileSync(join(root, path), 'utf8')).toBe('mine');
  });
});

describe('an odd file', () => {
  it.each([
    [27, 'pipe'],
    [28, 'socket'],
    [31, 'sparse.log'],
    [35, '.'],
    [35, 'src/'],
    [36, 'closed.txt'],
  ])('is an error of its call, at once: row %i, %s', async (_row, path) => {
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    for (const call of [read(path), write(path), create(path)]) {
      const { status, text } = await outcome(sessionId, call);
      expect({ call, failed: status !== 'ok' }).toEqual({ call, failed: true });
      expect(text).toMatch(/^"(?:Cannot|Writing) /);
    }
  });

  it('of one endless line is shown by its beginning: row 31', async () => {
    const { status, text } = await outcome(await client.session(), read('long-line.txt'));
    expect(status).toBe('ok');
    expect(text.length).toBeLessThan(10_000);
  });

  it('in a folder that may not be written leaves nothing behind: row 36', async () => {
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    await outcome(sessionId, read('locked/file.txt'));
    for (const path of ['locked/file.txt', 'locked/new.txt']) {
      expect(await outcome(sessionId, write(path))).toMatchObject({ status: 'error' });
    }
    expect(readdirSync(join(root, 'locked'))).toEqual(['file.txt']);
  });

  it('keeps its mode and loses setuid when it is written: row 37', async () => {
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    chmodSync(join(root, 'run.sh'), 0o6755);
    await outcome(sessionId, read('run.sh'));
    expect(await outcome(sessionId, write('run.sh'))).toMatchObject({ status: 'ok' });
    expect(statSync(join(root, 'run.sh')).mode & 0o7777).toBe(0o755);
  });

  it('that is a hard link asks before it is written, whatever the mode: row 20', async () => {
    for (const mode of MODES) {
      const sessionId = await client.session({ mode });
      await outcome(sessionId, read('hard.txt'));
      expect(await outcome(sessionId, write('hard.txt'))).toMatchObject({ status: 'denied' });
    }
    expect(readFileSync(join(home, 'outside/linked.txt'), 'utf8')).toBe('linked\n');
  });
});

describe('a file that programs run or obey', () => {
  it.each([
    [51, '.git/hooks/pre-commit'],
    [51, '.git/config'],
    [51, '.git/info/attributes'],
    [51, '.gitmodules'],
    [51, 'sub/.gitattributes'],
    [51, 'repository/config'],
    [51, 'repository/hooks/x'],
    [52, '.claude/settings.json'],
    [52, '.CLAUDE/settings.json'],
    [52, '.gauntlet/settings.json'],
    [52, '.mcp.json'],
    [52, '.vscode/tasks.json'],
    [52, '.VSCode/Settings.JSON'],
    [52, '.idea/workspace.xml'],
    [52, '.devcontainer/devcontainer.json'],
    [52, '.envrc'],
    [52, '.husky/pre-commit'],
    [54, '.bashrc'],
    [54, '.zshenv'],
    [54, '.zlogin'],
    [54, '.bash_login'],
    [54, '.profile'],
    [54, '.ssh/config'],
    [54, '.config/git/config'],
    [54, 'crontab'],
  ])('asks before it is written, whatever the mode: row %i, %s', async (_row, path) => {
    for (const mode of MODES) {
      const sessionId = await client.session({ mode, rules: { allow: ['Write', 'Edit'] } });
      for (const call of [write(path), create(path)]) {
        expect({ call, is: await decision(sessionId, call) }).toEqual({ call, is: 'ask' });
        expect(await outcome(sessionId, call)).toMatchObject({ status: 'denied' });
      }
      expect(existsSync(join(root, path))).toBe(false);
    }
  });

  it("is the server's own settings file, before there is one too: row 52", async () => {
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const path = join(home, 'data', 'gauntlet.config.json');
    for (const call of [read(path), write(path), create(path)]) expect(await decision(sessionId, call)).toBe('deny');
    expect(await outcome(sessionId, write(path))).toMatchObject({ status: 'denied' });
  });
});
