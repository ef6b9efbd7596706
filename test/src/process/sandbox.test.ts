/** The sandbox, attacked from inside by real shells. */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { processesWith, until } from '../../helpers/process-host.ts';
import { SECRET, countRunning, testSandbox } from '../../helpers/sandboxes.ts';

describe('files in the sandbox', () => {
  const box = testSandbox();

  it('are written in the workspace and in /tmp, and nowhere else', async () => {
    const { stdout } = await box.shell(
      'for f in in /tmp/gauntlet-x /etc/x /usr/x /x /home/x ../x ~/x; do (echo hi >"$f") 2>/dev/null && echo "$f"; done',
    );
    expect(stdout).toBe('in\n/tmp/gauntlet-x\n');
    expect(readFileSync(box.at('workspace/in'), 'utf8')).toBe('hi\n');
    expect(existsSync('/tmp/gauntlet-x')).toBe(false);
  });

  it('are read everywhere but where secrets are', async () => {
    const { stdout, stderr } = await box.shell(
      `cat /etc/passwd; cat ${box.at('data/token')} ${box.at('home/.ssh/id_rsa')} ${box.at('home/.netrc')} ${box.at('settings.json')} /etc/shadow`,
    );
    expect(stdout).toContain('root:');
    expect(stdout).not.toContain(SECRET);
    expect(stderr.match(/cat: /g)).toHaveLength(5);
    expect((await box.shell(`grep -rs ${SECRET} ${box.at('')} /proc/*/environ`)).stdout).toBe('');
  });

  it('of the own session are read and not written, those of others not even seen', async () => {
    const { stdout } = await box.shell(
      `cd ${box.at('data/sessions')}; ls; cat s/result; (echo x >s/result; echo x >s/new) 2>&1 | grep -c Read-only`,
    );
    expect(stdout).toBe('s\none of mine2\n');
  });

  it('that the server runs from stay as they are, in a workspace around them and in one below', async () => {
    const program = box.write('projects/tools/server/dist/gauntlet.js', 'mine');
    box.write('projects/tools/server/.git/hooks/pre-commit', 'mine');
    const attack =
      'echo x >tools/server/dist/gauntlet.js; rm -rf tools/server; mv tools aside; mv tools/server aside; echo x >tools/server/.git/x; echo x >tools/new';
    const around = { ...box.place, folders: [box.at('projects')] };
    await box.shell(attack, { cwd: box.at('projects') }, around);
    const below = { ...box.place, folders: [box.at('projects/tools/server/dist')] };
    const { stdout } = await box.shell(
      'cat gauntlet.js; echo x >gauntlet.js; echo x >new',
      { cwd: dirname(program) },
      below,
    );
    expect(stdout).toBe('mine');
    expect(readFileSync(program, 'utf8')).toBe('mine');
    // What could not be moved was copied at most.
    expect(readdirSync(box.at('projects'))).toContain('tools');
    expect(readdirSync(box.at('projects/tools'))).toEqual(['new', 'server']);
    expect(readdirSync(box.at('projects/tools/server/.git'))).not.toContain('x');
  });

  it('behind a link out of the workspace stay as they are', async () => {
    const target = box.write('outside', 'mine');
    symlinkSync(target, box.at('workspace/link'));
    const { stdout } = await box.shell(`echo x >link; ln -s ${box.at('home')} h; cat h/.netrc; cat link`);
    expect(stdout).toBe('mine');
    expect(readFileSync(target, 'utf8')).toBe('mine');
  });

  it('outside cannot be reached by a hard link or through /proc', async () => {
    const { stdout } = await box.shell(
      'ln /etc/passwd p 2>/dev/null; ls p 2>/dev/null; (echo x >/proc/self/root/etc/x; echo x >/proc/1/root/etc/x) 2>/dev/null; ls /etc/x 2>/dev/null',
    );
    expect(stdout).toBe('');
  });

  it('that appear after the start are hidden as well', async () => {
    await box.shell('true');
    box.write('home/.pgpass', SECRET);
    expect((await box.shell(`cat ${box.at('home/.pgpass')}`)).stdout).toBe('');
  });

  it('are replaced outside while a shell waits, and the next command sees the new ones', async () => {
    const { ino } = lstatSync(box.write('home/.npmrc', 'old'));
    await box.shell('true');
    execFileSync('bash', ['-c', `echo ${SECRET} >n; mv n .npmrc`], { cwd: box.at('home') });
    expect(lstatSync(box.at('home/.npmrc')).ino).not.toBe(ino);
    expect((await box.shell(`cat ${box.at('home/.npmrc')}`)).stdout).toBe('');
  });
});

describe('a repository in the sandbox', () => {
  const box = testSandbox();
  const repository = (path: string) => execFileSync('git', ['init', '-q', box.at(path)]);
  mkdirSync(box.at('workspace'), { recursive: true });
  repository('workspace');
  repository('workspace/sub/inner');
  box.write('workspace/.vscode/tasks.json');
  box.write('workspace/.envrc', 'export A=1');

  it('takes commits', async () => {
    const commit = 'echo a >a && git add a && git -c user.name=a -c user.email=a@b commit -qm a && git log --format=%s';
    expect(await box.shell(commit)).toMatchObject({ code: 0, stdout: 'a\n' });
  });

  it.each([
    'echo x >.git/hooks/pre-commit',
    'git config core.pager x',
    'echo x >.git/config',
    'rm -rf .git/hooks',
    'mv .git .git2',
    'mv sub sub2',
    'mv sub/inner sub/other',
    'echo x >sub/inner/.git/hooks/post-checkout',
    'echo x >.git/info/attributes',
    'echo x >.envrc',
    'rm .envrc',
    'mv .vscode code',
    'echo x >.vscode/tasks.json',
    'ln -sf /tmp/evil .git/config',
    'umount .git/config',
    'mount --bind /tmp .git/hooks',
  ])('refuses to change what programs obey: %s', async (script) => {
    expect((await box.shell(script)).code).not.toBe(0);
  });

  it('that lacks hooks is given none by a command', async () => {
    execFileSync('git', ['init', '-q', '--template=', box.at('bare')]);
    const script =
      'mkdir -p .git/hooks; echo x >.git/hooks/pre-commit; echo ../evil >.git/commondir; cat .git/commondir';
    const { stdout } = await box.shell(script, { cwd: box.at('bare') }, { ...box.place, folders: [box.at('bare')] });
    expect(stdout).toBe('../evil\n');
    expect(readdirSync(box.at('bare/.git/hooks'))).toEqual([]);
    expect(existsSync(box.at('bare/.git/commondir'))).toBe(false);
  });

  it('shows no secret through a link that takes the place of a protected file', async () => {
    const swap = `mkdir -p new; while :; do rm -rf new/.husky; mkdir new/.husky; rm -rf new/.husky; ln -s ${box.at('home/.ssh')} new/.husky; done`;
    const swapping = box.shell(swap, { onOutput: undefined }).catch(() => undefined);
    for (let count = 0; count < 10; count += 1) {
      expect((await box.shell('cat new/.husky/id_rsa new/.husky/*')).stdout).not.toContain(SECRET);
    }
    expect(processesWith(box.host.ownerId).length).toBeGreaterThan(1);
    await box.host.close();
    await swapping;
  });
});

describe('processes in the sandbox', () => {
  const box = testSandbox();

  it('see nobody else, and nothing of the server', async () => {
    const { stdout } = await box.shell(
      'ls -d /proc/[0-9]* | wc -l; tr "\\0" "\\n" </proc/1/environ; tr "\\0" "\\n" </proc/$PPID/environ',
    );
    const [count, ...variables] = stdout.trim().split('\n');
    expect(Number(count)).toBeLessThan(6);
    const names = new Set(variables.map((line) => line.split('=')[0]));
    expect(
      [...names].filter(
        (name) => !['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'PWD', 'GAUNTLET_CALL_ID'].includes(name ?? ''),
      ),
    ).toEqual([]);
  });

  it.each([
    ['make namespaces', 'unshare --user true'],
    ['make namespaces of mounts', 'unshare --mount true'],
    ['mount', 'mount -t tmpfs none /mnt'],
    ['make a read-only mount writable', 'mount -o remount,rw /'],
    ['set what the kernel runs', 'echo "|/bin/sh" >/proc/sys/kernel/core_pattern'],
    ['order the kernel about', 'test -w /proc/sysrq-trigger || echo x >/proc/sys/vm/drop_caches'],
    ['write to the kernel’s tree of devices', 'echo never >/sys/kernel/mm/transparent_hugepage/enabled'],
    ['make devices', 'mknod d b 8 0'],
    ['change its root', 'chroot / true'],
    ['enter the namespaces of the first process', 'nsenter -t 1 -m true'],
  ])('cannot %s', async (_what, script) => {
    expect((await box.shell(script)).code).not.toBe(0);
  });

  it('have no capability and gain none', async () => {
    const { stdout } = await box.shell('grep -E "Cap(Prm|Eff|Bnd)|NoNewPrivs" /proc/self/status | tr -s "\\t\\n" "  "');
    expect(stdout.trim()).toBe(
      'CapPrm: 0000000000000000 CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1',
    );
  });

  it('cannot trace or signal one outside', async () => {
    const { stdout } = await box.shell(
      `kill -0 ${process.pid} 2>/dev/null && echo seen; ls /proc/${process.pid}/mem 2>/dev/null; echo done`,
    );
    expect(stdout).toBe('done\n');
  });

  it('that leave their group and their environment end with the command (F14)', async () => {
    const marker = `79.${process.pid}`;
    const { stdout } = await box.shell(
      `env -i setsid sleep ${marker} >/dev/null 2>&1 & setsid -f bash -c "exec -a x sleep ${marker}" >/dev/null 2>&1; echo on`,
    );
    expect(stdout).toBe('on\n');
    await until(() => countRunning(marker) === 0);
  });

  it('end at once when the tree is ended', async () => {
    const marker = `80.${process.pid}`;
    let child: ReturnType<typeof box.host.spawn> | undefined;
    const ended = box.within().within(box.place, (launcher) => {
      child = box.host.spawn({
        file: 'bash',
        args: [],
        cwd: '/',
        shellScript: `trap "" TERM; setsid sleep ${marker} & sleep ${marker}`,
        launcher,
      });
      return child.exited;
    });
    await until(() => countRunning(marker) === 2);
    await child?.killTree();
    await ended;
    await until(() => countRunning(marker) === 0);
  });
});

describe('the network of the sandbox', () => {
  const box = testSandbox();

  it('is not there: neither the machine’s own addresses nor names', async () => {
    const server = createServer((_request, reply) => reply.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const script = `(exec 5<>/dev/tcp/127.0.0.1/${port}) 2>&1; getent hosts example.com; ls /sys/class/net 2>/dev/null | grep -c . ; cat /proc/net/dev | tail -n +3 | cut -d: -f1`;
    const { stdout } = await box.shell(script);
    server.close();
    expect(stdout).toContain('Connection refused');
    expect(stdout.trim().split('\n').at(-1)?.trim()).toBe('lo');
  });

  it('has no socket of the machine’s services', async () => {
    expect((await box.shell('find /run /var/run/ /tmp -type s')).stdout).toBe('');
  });
});

describe('the network, where it is on', () => {
  const box = testSandbox({ network: 'on' });

  it('is the machine’s', async () => {
    const server = createServer((_request, reply) => reply.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { stdout } = await box.shell(
      `exec 5<>/dev/tcp/127.0.0.1/${port}; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&5; cat <&5`,
    );
    server.close();
    expect(stdout).toContain('reached');
  });
});

describe('a shell in the sandbox', () => {
  const box = testSandbox();

  it('reports where it ended, also when it was started ahead', async () => {
    mkdirSync(box.at('workspace/deep'));
    for (const name of ['one', 'two']) {
      const cwdFile = `${box.place.reportFolder}/${name}`;
      expect(await box.shell('cd deep; exit 3', { cwdFile })).toMatchObject({ code: 3 });
      expect(readFileSync(cwdFile, 'utf8')).toBe(`${box.at('workspace/deep')}\n`);
    }
  });

  it('starts with an empty /tmp each time', async () => {
    expect((await box.shell('echo x >/tmp/a; ls /tmp')).stdout).toBe('a\n');
    expect((await box.shell('ls -A /tmp')).stdout.trim()).toBe('');
  });

  it('is refused all of the machine as a working directory', async () => {
    const everything = { ...box.place, folders: ['/'] };
    await expect(box.within().within(everything, () => Promise.resolve())).rejects.toMatchObject({
      code: 'tool_failed',
    });
    expect(readdirSync(box.at('workspace'))).toContain('deep');
  });
});
