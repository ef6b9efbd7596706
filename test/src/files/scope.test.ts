import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LocatedPath } from '../../../src/tool/located-path.ts';
import { createLocatePath } from '../../../src/files/scope.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { writeTree } from '../../helpers/tool-session.ts';
import { sessionContextIn } from '../../helpers/tool-use-context.ts';

const place = temporaryFolder();
const root = join(place, 'ws');
const home = join(place, 'home');
const data = join(place, 'data');
const sessionFolder = join(data, 'sessions', 's1');
writeTree(place, {
  'ws/src/app.ts': 'app',
  'ws/..hidden': 'x',
  'ws-evil/x': 'evil',
  'home/.bashrc': '',
  'data/token': 'secret',
  'data/sessions/s1/big.txt': 'spilled',
  'data/sessions/s2/big.txt': 'not yours',
  'extra/file': 'x',
  'ws/server/dist/gauntlet.js': 'x',
  'tools/node': 'x',
});
symlinkSync(join(root, 'server/dist'), join(root, 'to-server'));
symlinkSync('/etc/passwd', join(root, 'link'));
symlinkSync('/etc', join(root, 'linkdir'));
symlinkSync(join(home, 'new-file'), join(root, 'dangling'));
symlinkSync(join(root, 'loop-b'), join(root, 'loop-a'));
symlinkSync(join(root, 'loop-a'), join(root, 'loop-b'));
symlinkSync(join(root, 'src'), join(root, 'inner'));
symlinkSync('/proc/self/root/etc/passwd', join(root, 'magic'));
linkSync(join(place, 'ws-evil/x'), join(root, 'hardlink'));
execFileSync('mkfifo', [join(root, 'pipe')]);

const locate = createLocatePath({
  protectedPaths: [join(home, 'gauntlet.json')],
  privateFolders: [data],
  readOnlyPaths: [join(root, 'server'), join(place, 'tools/node')],
  home,
});
const session = sessionContextIn(root);

function at(path: string, access: 'read' | 'write' = 'read', inSession = session): Promise<LocatedPath> {
  return locate({ path, access }, { session: inSession, sessionFolder });
}

describe('spelling', () => {
  const tooLong = `${'a'.repeat(256)}`;
  it.each([
    ['empty', ''],
    ['NUL', 'safe.txt\0.png'],
    ['a line end', 'a\nb'],
    ['an escape', 'a\u001b[2Jb'],
    ['a bidi override', 'a\u202etxt.exe'],
    ['a zero-width space', '.en\u200bv'],
    ['a lone surrogate', 'a\ud800'],
    ['4,097 bytes', 'a/'.repeat(2_049)],
    ['a name of 256 bytes', tooLong],
    ['a UNC name', '\\\\server\\share\\x'],
    ['a network name', '//server/share/x'],
    ['a device namespace', '\\??\\UNC\\x'],
    ['a verbatim name', '\\\\?\\C:\\x'],
    ['a drive letter', 'C:\\Windows'],
    ['a file URL', 'file:///etc/passwd'],
    ['a web address', 'http://example.com/x'],
  ])('%s is refused before the disk is touched', async (_what, path) => {
    const located = await at(path);
    expect(located.refusal).toBeTypeOf('string');
    expect(located.isInside).toBe(false);
  });

  it.each([
    ['~', home],
    ['~/x', join(home, 'x')],
    ['~root/x', join(root, '~root/x')],
    ['~+/x', join(root, '~+/x')],
    ['$HOME/x', join(root, '$HOME/x')],
    ['${HOME}', join(root, '${HOME}')],
    ['%2e%2e/x', join(root, '%2e%2e/x')],
    ['....//x', join(root, '..../x')],
    ['..;/x', join(root, '..;/x')],
    ['[a].txt', join(root, '[a].txt')],
  ])('%s means one path and nothing else', async (path, spelled) => {
    expect((await at(path)).spelled).toBe(spelled);
  });

  it.each([
    './src/app.ts',
    'src//app.ts',
    'src/./app.ts',
    'src/app.ts/',
    'x/../src/app.ts'.replace('x', 'src'),
    'inner/app.ts',
  ])('%s has the one real path', async (path) => {
    expect((await at(path)).real).toBe(join(root, 'src/app.ts'));
  });
});

describe('containment', () => {
  it.each([
    '../../etc/passwd',
    'src/../../other/x',
    join(place, 'ws-evil/x'),
    `${root}/../ws-evil/x`,
    'link',
    'linkdir/passwd',
    'linkdir/new-file',
    join(place, 'WS/x'),
  ])('%s is outside', async (path) => {
    expect((await at(path)).isInside).toBe(false);
  });

  it.each(['src/app.ts', 'src/new/deep/file.ts', '.', root, '..hidden', 'inner/app.ts'])(
    '%s is inside',
    async (path) => {
      expect((await at(path, 'write')).isInside).toBe(true);
    },
  );

  it('an additional directory counts by its real path', async () => {
    symlinkSync(join(place, 'extra'), join(place, 'extra-link'));
    const permissions = { ...session.permissions, additionalDirectories: [join(place, 'extra-link')] };
    const located = await at(join(place, 'extra/file'), 'read', { ...session, permissions });
    expect(located.isInside).toBe(true);
  });

  it('relative paths start from the session and not from the process', async () => {
    const located = await at('app.ts', 'read', { ...session, cwd: join(root, 'src') });
    expect(located.real).toBe(join(root, 'src/app.ts'));
  });

  it('only the own session folder of the private ones may be read', async () => {
    const [own, others, token] = await Promise.all([
      at(join(sessionFolder, 'big.txt')),
      at(join(data, 'sessions/s2/big.txt')),
      at(join(data, 'token')),
    ]);
    expect(own).toMatchObject({ isSessionFile: true, isInside: false });
    expect(own.refusal).toBeUndefined();
    for (const { refusal } of [others, token]) expect(refusal).toContain("it is the server's own data");
  });

  it.each([
    'server',
    'server/dist/gauntlet.js',
    'server/new/file',
    'to-server/gauntlet.js',
    'src/../server/x',
    '../tools/node',
  ])('the files the server runs from are read and never written: %s', async (path) => {
    expect((await at(path, 'write')).refusal).toMatch(/runs from, which no call may change.*GAUNTLET_WORKSPACE/);
    expect((await at(path, 'read')).refusal).toBeUndefined();
  });

  it("what takes along all below a folder takes neither the server's files nor its data", async () => {
    const all = (path: string, access: 'read' | 'write', how: object) =>
      locate({ path, access, ...how }, { session, sessionFolder });
    expect((await all('.', 'write', { isWhole: true })).refusal).toContain('contains the installation');
    expect((await all('.', 'read', { isWhole: true })).refusal).toBeUndefined();
    expect((await all('src', 'write', { isWhole: true })).refusal).toBeUndefined();
    for (const how of [{ isWhole: true }, { isTree: true }])
      expect((await all('..', 'read', how)).refusal).toContain("contains the server's own data");
    expect((await at('..')).refusal).toBeUndefined();
  });

  it('no working directory opens the private ones', async () => {
    const permissions = { ...session.permissions, additionalDirectories: [data, join(data, 'sessions')] };
    const root = join(data, 'sessions');
    for (const inSession of [
      { ...session, permissions },
      { ...session, cwd: root, root },
    ]) {
      for (const path of ['token', 'sessions/s2/big.txt'])
        expect((await at(join(data, path), 'read', inSession)).refusal).toContain("it is the server's own data");
    }
  });

  it('a path deeper than a file is refused', async () => {
    expect((await at('src/app.ts/x')).refusal).toContain('ENOTDIR');
  });

  it('climbing out of a folder that does not exist is refused', async () => {
    expect((await at('missing/../new.txt', 'write')).refusal).toContain('".."');
  });
});

describe('links and odd files', () => {
  it.each([
    ['dangling', 'does not exist'],
    ['loop-a', 'ELOOP'],
    ['magic', undefined],
  ])('the link %s does not lead inside', async (path, refusal) => {
    const located = await at(path, 'write');
    expect(located.isInside).toBe(false);
    if (refusal !== undefined) expect(located.refusal).toContain(refusal);
  });

  it.each([
    '/proc/self/environ',
    '/proc/self/root/etc/passwd',
    '/sys/kernel',
    '/dev/zero',
    '/dev/stdin',
    '/dev/fd/0',
    '/proc/self/fd/1',
  ])('%s is never a file', async (path) => {
    expect((await at(path)).refusal).toContain('kernel');
  });

  it.each(['hardlink', 'pipe'])('writing to the %s asks in every mode', async (path) => {
    expect((await at(path, 'write')).safety).toBeTypeOf('string');
    expect((await at(path)).safety).toBeUndefined();
  });

  it('a socket asks before it is written', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, 'socket'), resolve));
    expect((await at('socket', 'write')).safety).toContain('regular');
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('writes that become execution', () => {
  it.each([
    '.git/hooks/pre-commit', '.git/config', '.GIT/config', '.git', 'sub/.git/info/attributes', '.gitmodules', '.gitattributes',
    '.claude/settings.json', '.gauntlet/settings.json', '.mcp.json', '.vscode/tasks.json', '.VSCode/Settings.json', '.idea/x',
    '.devcontainer/x', '.envrc', '.husky/pre-push', '~/.bashrc', '~/.zshenv', '~/.profile', '~/.ssh/authorized_keys',
    '~/.config/git/config', '.git./config', '/etc/cron.d/x', '/var/spool/cron/root', '~/gauntlet.json', '~/GAUNTLET.json',
  ])('%s asks in every mode', async (path) => {
    expect((await at(path, 'write')).safety).toBeTypeOf('string');
  }); // prettier-ignore

  it.each([
    'package.json',
    'src/app.ts',
    '.github/workflows/ci.yml',
    'src/config',
    'src/hooks/use.ts',
    '.vscode/extensions.json',
    '.gitignore',
  ])('%s is an ordinary file', async (path) => {
    expect((await at(path, 'write')).safety).toBeUndefined();
  });

  it('reading them asks nothing more', async () => {
    expect((await at('.git/config')).safety).toBeUndefined();
  });

  it('whichever part of a planted bare repository comes last asks', async () => {
    mkdirSync(join(root, 'planted/objects'), { recursive: true });
    expect((await at('planted/HEAD', 'write')).safety).toContain('bare');
    writeFileSync(join(root, 'planted/HEAD'), 'ref: refs/heads/main');
    expect((await at('planted/refs/heads/main', 'write')).safety).toContain('bare');
    expect((await at('planted/config', 'write')).safety).toContain('bare');
  });

  it('a link to a protected folder does not hide it', async () => {
    mkdirSync(join(root, '.husky'));
    symlinkSync(join(root, '.husky'), join(root, 'harmless'));
    expect((await at('harmless/pre-commit', 'write')).safety).toContain('.husky');
  });
});
