/** What a command can do in a jail: tried with real commands on the real kernel. */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../config/limits.ts';
import { createPermissionContext } from '../../../../src/permissions/context.ts';
import { readDenial, readDenialBelow, readDenialPlaces } from '../../../../src/permissions/path-gate.ts';
import { JAIL_LIMITS } from '../../../../src/process/jail/limit-options.ts';
import { createJail, type Jail, type JailOptions } from '../../../../src/process/jail/jail.ts';
import type { JailPlace } from '../../../../src/process/jail/place.ts';
import { processesWith, run, testProcessHost, until } from '../../../helpers/process-host.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const host = testProcessHost();
const home = temporaryFolder();
const inside = join(home, 'inside');
const outside = join(home, 'outside');

function jailWith(changes: Partial<JailOptions> = {}): Jail {
  return createJail({
    settings: { scope: 'reads', isRequired: false, wordsAlone: false },
    host,
    ownPaths: [],
    readOnlyPaths: [],
    folder: join(home, 'jail'),
    limits: DEFAULT_LIMITS,
    ...changes,
  });
}

const NO_DENIALS = { version: 1, isDenied: () => false, mayDenyBelow: () => false, places: () => [] };

function placeOf(sessionId: string, changes: Partial<JailPlace> = {}): JailPlace {
  const sessionFolder = join(home, 'sessions', sessionId);
  mkdirSync(sessionFolder, { recursive: true });
  return { principal: 'owner', sessionId, folders: [inside], sessionFolder, denials: NO_DENIALS, ...changes };
}

/** Run a script in a jail that only reads, or in one that may write. */
function runIn(jail: Jail, place: JailPlace, script: string, isWritable = false) {
  return jail.within(place, isWritable, ({ request }) => run(host, { shellScript: script, cwd: inside, ...request }));
}

beforeAll(() => {
  mkdirSync(inside);
  mkdirSync(outside);
  chmodSync(outside, 0o777);
  writeFileSync(join(inside, 'file'), 'inside\n', { mode: 0o666 });
  writeFileSync(join(outside, 'canary'), 'canary\n', { mode: 0o666 });
  symlinkSync(join(outside, 'canary'), join(inside, 'link'));
});

describe('a command in a jail', () => {
  const jail = jailWith();
  const place = placeOf('one');
  const runJailed = (script: string) => runIn(jail, place, script);

  it.each([
    ['git --version && awk "BEGIN { print 1 }" && node --version', 0],
    ['cat file | grep -c inside; sort <<< "b"; cat <(echo a); wc -l < file', 0],
    ['cat <<E\n$(seq 70000)\nE', 0],
    ['echo a | tee /dev/stderr', 0],
    ['ls -la . && cat $TMPDIR/../../../sessions 2>/dev/null; true', 0],
  ])('reads as any command does: %s', async (script, code) => {
    expect(await runJailed(script)).toMatchObject({ code, stdout: expect.stringMatching(/./) });
  });

  it.each([
    'echo x >file',
    'echo x >new',
    ': >>file',
    'truncate -s 0 file',
    'dd if=/dev/null of=file',
    'rm -f file; [[ ! -e file ]]',
    'mv file moved',
    'mkdir folder',
    'ln file hard',
    'ln -s file soft',
    'mkfifo pipe',
    'mknod device c 1 3',
    'chmod 600 file',
    'chown 1:1 file',
    'touch -d 2001-01-01 file',
    'touch -h link',
    'setfattr -n user.a -v b file',
    'chattr +i file',
    "node -e \"require('fs').futimesSync(require('fs').openSync('file'), 1, 1)\"",
    "node -e \"require('fs').fchmodSync(require('fs').openSync('file'), 0)\"",
    `echo x >${outside}/canary`,
    `echo x >${outside}/new`,
    `touch ${outside}/canary`,
    'echo x >/tmp/gauntlet-jail-escape',
    'echo x >/dev/shm/gauntlet-jail-escape',
  ])('changes nothing: %s', async (script) => {
    const before = stateOf(inside, outside);
    expect(await runJailed(script)).not.toMatchObject({ code: 0 });
    expect(stateOf(inside, outside)).toEqual(before);
    expect(['/tmp', '/dev/shm'].some((folder) => existsSync(join(folder, 'gauntlet-jail-escape')))).toBe(false);
  });

  it.each([
    `cat ${outside}/canary`,
    'cat link',
    'cat l*',
    'grep -R canary .',
    'cat < link',
    `cd ${outside} && cat canary`,
    `find ${outside} -type f -exec cat {} +`,
    'ln -s $PWD/../outside $TMPDIR/l && cat $TMPDIR/l/canary',
    `cat /proc/self/root${outside}/canary`,
  ])('reads nothing outside: %s', async (script) => {
    const { stdout, stderr } = await runJailed(script);
    expect(stdout + stderr).not.toContain('canary\n');
  });

  it('sees no other process’s environment, and signals nobody outside', async () => {
    const other = spawn('sleep', ['60'], { env: { CANARY: 'canary' } });
    try {
      const script = `tr '\\0' '\\n' </proc/${other.pid}/environ; kill ${other.pid}; kill -0 $PPID && echo signalled`;
      const { stdout } = await runJailed(script);
      expect(stdout).toBe('');
      expect(other.exitCode ?? other.signalCode).toBeNull();
    } finally {
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
  });

  it('lets Node talk to a child over a pair of sockets, of no other family', async () => {
    const child = `console.log(require('child_process').execFileSync('echo', ['heard']).toString())`;
    expect(await runJailed(`node -e "${child}"`)).toMatchObject({ code: 0, stdout: 'heard\n\n' });
    const pairs = 'import socket; socket.socketpair(socket.AF_UNIX); socket.socketpair(socket.AF_INET6)';
    expect((await runJailed(`command -v python3 >/dev/null || exit 1; python3 -c '${pairs}'`)).code).toBe(1);
  });

  it('sends nothing, over TCP, UDP or a UNIX socket', async () => {
    let received = 0;
    const tcp = createServer(() => (received += 1)).listen(0, '127.0.0.1');
    const unix = createServer(() => (received += 1)).listen(join(inside, 'socket'));
    const udp = createSocket('udp4', () => (received += 1)).bind(0, '127.0.0.1');
    await Promise.all([once(tcp, 'listening'), once(unix, 'listening'), once(udp, 'listening')]);
    chmodSync(join(inside, 'socket'), 0o777);
    try {
      const connect = "const n = require('net'); n.connect(process.argv[1]).on('error', () => process.exit(3))";
      const script = `exec 3<>/dev/tcp/127.0.0.1/${(tcp.address() as AddressInfo).port} && echo x >&3
        echo x >/dev/udp/127.0.0.1/${udp.address().port}
        node -e "${connect}" "$PWD/socket"`;
      expect(await runJailed(script)).toMatchObject({ code: 3 });
      expect(received).toBe(0);
    } finally {
      tcp.close();
      unix.close();
      udp.close();
    }
  });

  it('has a temporary folder that nobody else sees, and that goes with its call', async () => {
    const { stdout } = await runJailed('echo kept >$TMPDIR/a && mkdir $TMPDIR/b && cat $TMPDIR/a && echo $TMPDIR');
    const [text, folder = ''] = stdout.trim().split('\n');
    expect(text).toBe('kept');
    expect(existsSync(folder)).toBe(false);
    await runJailed('echo left >$TMPDIR/../left; mkdir $TMPDIR/../call-mine; rmdir $TMPDIR; ln -s / $TMPDIR');
    expect((await runJailed('ls -A $TMPDIR/.. | wc -l; ls -A $TMPDIR')).stdout.trim()).toBe('1');
    const [other] = await Promise.all([
      runIn(jail, placeOf('two'), `sleep 0.3; cat ${place.sessionFolder}/*/*/secret`),
      runJailed('echo secret >$TMPDIR/secret; sleep 0.6'),
    ]);
    expect(other.stdout).toBe('');
  });

  it('is bounded in processes, memory and the length of files', async () => {
    const bombed = await runJailed(':(){ :|:& }; : 2>/dev/null; sleep 1; echo survived');
    expect(bombed.stdout).toContain('survived');
    const { stdout } = await runJailed('ulimit -Hd; ulimit -Ht; ulimit -Hf; ulimit -Hu');
    const [memory = 0, seconds = 0, file = 0, processes = 0] = stdout.trim().split('\n').map(Number);
    expect([memory, seconds, file].every((limit) => limit > 0)).toBe(true);
    expect(processes).toBeGreaterThanOrEqual(JAIL_LIMITS.processes);
    expect((await runJailed('tail /dev/zero')).code).not.toBe(0);
    const { stdout: raised } = await runJailed('ulimit -u 100000; ulimit -d unlimited; ulimit -Hd');
    expect(raised.trim()).toBe(String(memory));
  });

  it('finds programs in the folders of the system alone', async () => {
    const { stdout } = await runJailed('echo $PATH');
    expect(stdout).toMatch(/^\/usr\/local\/sbin:/);
    expect(stdout).not.toContain('node_modules');
  });

  it('runs when its working directory was replaced by another of the same name', async () => {
    const folder = join(home, 'replaced');
    const here = { ...placeOf('three'), folders: [folder] };
    for (const text of ['first', 'second']) {
      mkdirSync(folder);
      writeFileSync(join(folder, 'file'), text, { mode: 0o644 });
      const held = await jail.within(here, false, ({ request }) =>
        run(host, { shellScript: 'cat file', cwd: folder, ...request }),
      );
      expect(held.stdout).toBe(text);
      await run(host, { shellScript: `rm -r ${folder}` });
    }
  });

  it('runs when the process host was lost and is another one', async () => {
    await runJailed('true');
    const { stdout } = await run(host, { shellScript: 'echo $PPID' });
    process.kill(Number(stdout), 'SIGKILL');
    await until(async () => (await run(host, { shellScript: 'true' }).catch(() => undefined)) !== undefined);
    expect(await runJailed('cat file')).toMatchObject({ stdout: 'inside\n' });
  });

  it('ends the shells that wait under rules which have changed', async () => {
    const waiting = () => processesWith(host.ownerId).length;
    await runIn(jail, placeOf('changing'), 'true');
    await runIn(jail, placeOf('changing'), 'true');
    await until(() => waiting() > 1);
    const most = waiting() + 1;
    for (let version = 2; version < 12; version += 1) {
      const changed = placeOf('changing', { denials: { ...NO_DENIALS, version } });
      for (let each = 0; each < 2; each += 1) await runIn(jail, changed, 'true');
    }
    await until(() => waiting() <= most);
  });

  it('is one of many: more jails than are kept all hold', async () => {
    const many = Array.from({ length: 140 }, (_, index) => placeOf(`many-${index}`));
    for (const each of many) expect((await runIn(jail, each, 'cat file; echo x >file')).stdout).toBe('inside\n');
    expect((await runJailed('cat file')).stdout).toBe('inside\n');
  });

  it('hands a program more files than the host has descriptors', async () => {
    const files = Array.from({ length: 100 }, (_, index) => join(inside, `handed-${index}`));
    files.forEach((path, index) => writeFileSync(path, `${index}\n`, { mode: 0o644 }));
    const read = await jail.withProgram(placeOf('handed'), (held) =>
      run(host, {
        file: 'cat',
        args: files.map((_, index) => `/proc/self/fd/${index + 5}`),
        cwd: inside,
        files,
        ...held,
      }),
    );
    for (const path of files) rmSync(path);
    expect(read).toMatchObject({ code: 0, stdout: files.map((_, index) => `${index}\n`).join('') });
  });

  it('reads no folder of another session after its jail made room for others', async () => {
    const foreign = join(home, 'foreign');
    mkdirSync(foreign);
    writeFileSync(join(foreign, 'file'), 'foreign\n', { mode: 0o644 });
    const others = Array.from({ length: 140 }, (_, index) => ({ ...placeOf(`search-${index}`), folders: [foreign] }));
    await runJailed('true');
    for (const each of others) await jail.withProgram(each, () => Promise.resolve());
    for (let round = 0; round < 3; round += 1)
      expect((await runJailed(`cat file ${foreign}/file`)).stdout).toBe('inside\n');
  });
});

describe('what a rule hides inside a working directory', () => {
  const denials = {
    version: 2,
    isDenied: (path: string) => path.endsWith('/secret') || path.endsWith('/.env'),
    mayDenyBelow: () => true,
    places: () => [],
  };
  const jail = jailWith({ folder: join(home, 'masked') });

  beforeAll(() => {
    mkdirSync(join(inside, 'secret'));
    writeFileSync(join(inside, 'secret', 'key'), 'hidden\n');
    writeFileSync(join(inside, '.env'), 'hidden\n');
    symlinkSync('secret/key', join(inside, 'alias'));
  });

  it.each(['cat al*', 'cat .e*', 'grep -r hidden .', 'cat secret/key', 'cat <.env'])(
    'stays hidden: %s',
    async (script) => {
      const { stdout } = await runIn(jail, placeOf('masked', { denials }), script);
      expect(stdout).toBe('');
    },
  );

  it('leaves everything else as it is, and read-only', async () => {
    const { stdout } = await runIn(
      jail,
      placeOf('masked', { denials }),
      'cat file; echo x >file; echo a >$TMPDIR/a; cat $TMPDIR/a',
    );
    expect(stdout).toBe('inside\na\n');
    expect(readFileSync(join(inside, 'file'), 'utf8')).toBe('inside\n');
  });

  it('has no network there either, and reads nothing outside', async () => {
    const script = `(: >/dev/udp/127.0.0.1/9) 2>/dev/null && echo sent; cat ${outside}/canary; cat link`;
    expect((await runIn(jail, placeOf('masked', { denials }), script)).stdout).toBe('');
  });

  it('is asked about where there are too many files to look at', async () => {
    const few = jailWith({ limits: { ...DEFAULT_LIMITS, jailScanNames: 2 } });
    const held = await few.prepare(placeOf('many', { denials }));
    expect(held).toMatchObject({ kind: 'none', reason: expect.stringContaining('too many files') });
  });

  it('is masked where the server’s own files lie in a folder that is read', async () => {
    const own = jailWith({ ownPaths: [join(inside, 'secret')], folder: join(home, 'own') });
    expect((await runIn(own, placeOf('own'), 'cat secret/key; cat file')).stdout).toBe('inside\n');
  });
});

describe('what a rule hides outside the working directories', () => {
  const jail = jailWith({ folder: join(home, 'system') });

  /** The denials of `Read` rules, as a session has them. */
  function denying(...specs: readonly string[]): JailPlace['denials'] {
    const deny = specs.map((spec) => `Read(${spec})`);
    const permissions = createPermissionContext({
      mode: 'default',
      rules: { userSettings: { deny } },
      isBypassAvailable: false,
    });
    return {
      version: permissions.version,
      isDenied: readDenial(permissions, inside),
      mayDenyBelow: readDenialBelow(permissions, inside),
      places: readDenialPlaces(permissions, inside),
    };
  }

  it.each([
    ['//usr/bin/gzip', 'cat /usr/bin/gzip /bin/gzip'],
    ['//bin/gzip', 'cat /usr/bin/gzip /bin/gzip'],
    ['//bin/gzi?', 'cat /usr/bin/gzip /bin/gzip'],
    ['//lib/git-core/mergetools/**', 'cat /usr/lib/git-core/mergetools/*'],
    ['//lib/git-core/mergetools/*diff*', 'cat /usr/lib/git-core/mergetools/vimdiff'],
  ])('is masked where a link leads to it, too: Read(%s)', async (spec, script) => {
    const place = placeOf(`system ${spec}`, { denials: denying(spec) });
    const { stdout } = await runIn(jail, place, `${script} 2>/dev/null | wc -c; cat file`);
    expect(stdout).toMatch(/^0\ninside\n/);
  });

  it('is masked in a working directory that the rule reaches by a link', async () => {
    symlinkSync(inside, join(home, 'alias-of-inside'));
    writeFileSync(join(inside, 'reached'), 'reached\n', { mode: 0o644 });
    const place = placeOf('reached', { denials: denying(`/${join(home, 'alias-of-inside', 'reached')}`) });
    expect((await runIn(jail, place, 'cat reached; cat file')).stdout).toBe('inside\n');
  });

  it.each(['a file', 'a link'])('is masked where it is the settings of the user’s git: %s', async (kind) => {
    const user = join(home, `user of ${kind}`);
    mkdirSync(user);
    writeFileSync(join(user, 'settings'), '[user]\n  name = hidden\n', { mode: 0o644 });
    if (kind === 'a link') symlinkSync('settings', join(user, '.gitconfig'));
    else renameSync(join(user, 'settings'), join(user, '.gitconfig'));
    vi.stubEnv('HOME', user);
    try {
      const own = jailWith({ folder: join(home, `git of ${kind}`) });
      const script = `cat '${user}/.gitconfig' 2>/dev/null; cat file`;
      expect((await runIn(own, placeOf(`open ${kind}`), script)).stdout).toContain('hidden');
      const place = placeOf(`git ${kind}`, { denials: denying('~/.gitconfig') });
      expect((await runIn(own, place, script)).stdout).toBe('inside\n');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it.each([
    ['//etc/**/*.crt', 'cat /etc/ssl/certs/ca-certificates.crt'],
    ['//etc/pass*', 'cat /etc/passwd'],
    ['//var/**/status', 'cat /var/lib/dpkg/status'],
  ])('is masked where the place of the rule lies above what is open: Read(%s)', async (spec, script) => {
    expect((await runIn(jail, placeOf('open'), `${script} | wc -c`)).stdout).not.toBe('0\n');
    const place = placeOf(`above ${spec}`, { denials: denying(spec) });
    const { stdout } = await runIn(jail, place, `${script} 2>/dev/null | wc -c; cat file; wc -l </etc/hosts`);
    expect(stdout).toMatch(/^0\ninside\n[1-9]/);
  });

  it('is masked in a working directory where a link leads above it', async () => {
    symlinkSync(home, join(home, 'alias-of-home'));
    writeFileSync(join(inside, 'found'), 'found\n', { mode: 0o644 });
    const denials = denying(`/${join(home, 'alias-of-home')}/**/fou*`);
    expect((await runIn(jail, placeOf('found', { denials }), 'cat found; cat file')).stdout).toBe('inside\n');
  });

  it.each(['//proc/*/environ', '//proc/**/environ', '//usr/**/*.key', '//usr/lib/**/secret.txt'])(
    'makes no command a question where its place holds too many files: Read(%s)',
    async (spec) => {
      const few = jailWith({ limits: { ...DEFAULT_LIMITS, jailScanNames: 60 }, folder: join(home, 'few') });
      const denials = denying(spec, '//usr/lib/git-core/mergetools/*diff');
      expect(await few.prepare(placeOf(`few ${spec}`, { denials }))).toEqual({ kind: 'jail' });
      const script = 'cat /usr/lib/git-core/mergetools/vimdiff 2>/dev/null | wc -c; cat file';
      expect((await runIn(few, placeOf(`few ${spec}`, { denials }), script)).stdout).toBe('0\ninside\n');
    },
  );

  it('leaves the system as it is where rules are about other folders, or any', async () => {
    const place = placeOf('others', { denials: denying('//srv/**', '~/.ssh/**', 'gzip.key', '//bin/no-such-program') });
    expect((await runIn(jail, place, 'gzip --version | grep -c gzip')).stdout).toMatch(/^[1-9]/);
  });
});

describe('where a jail cannot be had', () => {
  const missing = () => Promise.resolve('bubblewrap is not installed');
  const none = {
    host: { ...host, jailSupport: () => Promise.resolve({ missing: 'the kernel has no Landlock' }) },
    masking: { missing, open: () => Promise.reject(new Error('Nothing is opened here')) },
  };

  it('a reading command is asked about', async () => {
    const held = await jailWith({ ...none, folder: join(home, 'none') }).prepare(placeOf('none'));
    expect(held).toMatchObject({ kind: 'none' });
  });

  it('words alone decide only where the operator says so', async () => {
    const settings = { scope: 'reads', isRequired: false, wordsAlone: true } as const;
    const jail = jailWith({ settings, ...none, folder: join(home, 'words') });
    expect(await jail.prepare(placeOf('words'))).toEqual({ kind: 'words' });
    expect(await jail.state()).toMatchObject({ scope: 'reads', reading: 'words', missing: expect.any(String) });
  });

  it('one that fails its trial is none', async () => {
    const open = () => Promise.resolve('no memory');
    const jail = jailWith({ ...none, host: { ...host, openJail: open }, folder: join(home, 'failing') });
    expect(await jail.prepare(placeOf('failing'))).toMatchObject({
      kind: 'none',
      reason: expect.stringContaining('no memory'),
    });
  });

  it('one that failed its trial is tried again, once however many commands ask', async () => {
    let trials = 0;
    const openJail: typeof host.openJail = (rules) => {
      if (!rules.key.includes('trial')) return host.openJail(rules);
      trials += 1;
      return trials === 1 ? Promise.resolve('no memory') : host.openJail(rules);
    };
    const jail = jailWith({ host: { ...host, openJail }, masking: none.masking, folder: join(home, 'recovering') });
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      expect(await jail.prepare(placeOf('early'))).toMatchObject({ kind: 'none' });
      vi.advanceTimersByTime(60_000);
      const asked = await Promise.all(['a', 'b', 'c'].map((id) => jail.prepare(placeOf(id))));
      expect(asked).toEqual([{ kind: 'jail' }, { kind: 'jail' }, { kind: 'jail' }]);
      expect(trials).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('nothing runs that was to be held', async () => {
    const jail = jailWith({ ...none, folder: join(home, 'nothing') });
    for (const isWritable of [false, true])
      await expect(runIn(jail, placeOf('nothing'), 'echo ran', isWritable)).rejects.toMatchObject({
        code: 'contained',
      });
  });
});

describe('a command in a jail whose working directories may change', () => {
  const jail = jailWith({ settings: { scope: 'all', isRequired: false, wordsAlone: false } });

  it('changes them and nothing else', async () => {
    const place = placeOf('writing');
    const script = `echo made >made && chmod 600 made && cat made; echo x >${outside}/canary; cat ${outside}/canary`;
    expect((await runIn(jail, place, script, true)).stdout).toBe('made\n');
    expect(readFileSync(join(outside, 'canary'), 'utf8')).toBe('canary\n');
  });

  it('does not run where the installation lies in one of them', async () => {
    const careful = jailWith({ readOnlyPaths: [join(inside, 'file')] });
    await expect(runIn(careful, placeOf('careful'), 'true', true)).rejects.toMatchObject({ code: 'contained' });
  });
});

/** Names, sizes, modes, owners and dates below folders. */
function stateOf(...folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder).map((name) => {
      const { size, mode, uid, mtimeMs, nlink } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
      return [folder, name, size, mode, uid, mtimeMs, nlink].join();
    }),
  );
}
