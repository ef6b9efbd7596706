/** Ways out of a sandbox that others have found, tried from inside. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { testSandbox } from '../../helpers/sandboxes.ts';

/** Numbers of system calls differ between machines. */
const KEYCTL = process.arch === 'arm64' ? 219 : 250;
const ADD_KEY = process.arch === 'arm64' ? 217 : 248;
const BPF = process.arch === 'arm64' ? 280 : 321;
const IO_URING_SETUP = 425;
const TIOCSTI = 0x5412;

/** A program that says `ENOSYS` when the kernel claims not to know what it asks for. */
const asking = (expression: string) => `perl -MErrno -e '${expression} and print "done"; print "ENOSYS" if $!{ENOSYS}'`;

describe('a command in the sandbox', () => {
  const box = testSandbox();

  it('is given three descriptors, whatever the server was started with', async () => {
    expect((await box.shell('ls /proc/$$/fd')).stdout).toBe('0\n1\n2\n');
  });

  it.each([
    ['the keys of the server’s session', asking(`syscall(${KEYCTL}, 0, -3, 0) > 0`)],
    [
      'to leave a key for the next session',
      asking(`my ($t, $n, $v) = ("user", "n", "v"); syscall(${ADD_KEY}, $t, $n, $v, 1, -3) > 0`),
    ],
    ['for a program in the kernel', asking(`my $b = "\\0" x 128; syscall(${BPF}, 0, $b, 128) >= 0`)],
    ['for a ring of requests', asking(`my $b = "\\0" x 256; syscall(${IO_URING_SETUP}, 8, $b) >= 0`)],
    [
      'to type into a terminal',
      asking(`open(my $t, "+<", "/dev/ptmx") or die; my $c = "x"; ioctl($t, ${TIOCSTI}, $c)`),
    ],
  ])('asks in vain %s', async (_what, script) => {
    expect((await box.shell(script)).stdout).toBe('ENOSYS');
  });

  it('has no terminal to begin with', async () => {
    expect((await box.shell('exec 5<>/dev/tty')).stderr).toContain('No such device or address');
  });

  it('sees no socket that has a name but no file', async () => {
    expect((await box.shell('tail -n +2 /proc/net/unix')).stdout).toBe('');
  });

  it('finds no secret behind the first process', async () => {
    const { stdout } = await box.shell(
      `cat /proc/1/root${box.at('data/token')} /proc/1/cwd${box.at('home/.netrc')} /proc/*/environ | tr '\\0' '\\n' | grep -c canary; ls /proc/1/root${box.at('data')}`,
    );
    expect(stdout).toBe('0\nsessions\n');
  });

  it('does not write through a descriptor what it may only read', async () => {
    const path = box.write('home/notes', 'mine');
    const { stderr } = await box.shell(`exec 5<${path}; echo x >/proc/self/fd/5; echo x >/dev/fd/5; touch /dev/x`);
    expect(stderr.match(/Read-only file system/g)).toHaveLength(3);
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  it('has memory to share of its own, and not all there is', async () => {
    const { stdout } = await box.shell('echo x >/dev/shm/gauntlet-escape; df --output=size /dev/shm | tail -n 1');
    expect(Number(stdout) * 1_024).toBe(512 * 1_024 * 1_024);
    expect(existsSync('/dev/shm/gauntlet-escape')).toBe(false);
  });
});

describe('the process host', () => {
  it('closes what it inherited, and nothing of its own', () => {
    const module = new URL('../../../src/process/host/close-inherited.ts', import.meta.url).href;
    const program = `import { existsSync } from 'node:fs'; import { closeInherited } from '${module}';
      closeInherited(2); console.log(existsSync('/proc/self/fd/77'), existsSync('/proc/self/fd/2')); await fetch('data:,');`;
    const script = `exec 77</etc/passwd; exec '${process.execPath}' --import tsx --input-type=module -e "$0"`;
    expect(execFileSync('bash', ['-c', script, program], { encoding: 'utf8' })).toBe('false true\n');
  });
});
