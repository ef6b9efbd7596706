/** Children run in the small process and come back as bytes and exits. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run, testProcessHost } from '../../helpers/process-host.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

describe('a child of the process host', () => {
  const host = testProcessHost();
  const folder = temporaryFolder();

  it('gives its output and its exit code', async () => {
    const ran = await run(host, { shellScript: 'echo out; echo err >&2; exit 3' });
    expect(ran).toEqual({ code: 3, signal: null, stdout: 'out\n', stderr: 'err\n' });
  });

  it('runs a program without a shell', async () => {
    const ran = await run(host, { file: 'printf', args: ['%s|', '$HOME', 'a b'] });
    expect(ran.stdout).toBe('$HOME|a b|');
  });

  it('starts in the folder it was given', async () => {
    const ran = await run(host, { shellScript: 'pwd; echo "${OLDPWD-none}"', cwd: folder });
    expect(ran.stdout).toBe(`${folder}\nnone\n`);
  });

  it('gets variables with quotes and line ends whole', async () => {
    const value = `it's "so"\n$HOME \`id\``;
    const ran = await run(host, { shellScript: 'printf %s "$GREETING"', env: { GREETING: value } });
    expect(ran.stdout).toBe(value);
  });

  it('cannot read the rest of its own script', async () => {
    const ran = await run(host, { shellScript: 'read -r line; cat; echo "[$line]"; ls /proc/$$/fd/3' });
    expect(ran).toMatchObject({ code: 2, stdout: '[]\n' });
  });

  it('names its own lines in errors', async () => {
    const ran = await run(host, { shellScript: 'true\nnot-a-program' });
    expect(ran).toMatchObject({ code: 127, stderr: 'bash: line 2: not-a-program: command not found\n' });
  });

  it('reports the folder it ended in, after exit as well', async () => {
    const cwdFile = join(folder, 'cwd');
    mkdirSync(join(folder, 'deep'));
    const ran = await run(host, { shellScript: 'cd deep; exit 7', cwd: folder, cwdFile });
    expect(ran.code).toBe(7);
    expect(readFileSync(cwdFile, 'utf8')).toBe(`${folder}/deep\n`);
  });

  it('reports its folder beside a trap of its own', async () => {
    const cwdFile = join(folder, 'cwd-trap');
    const ran = await run(host, { shellScript: 'trap "echo bye" EXIT; cd deep; false', cwd: folder, cwdFile });
    expect(ran).toMatchObject({ code: 1, stdout: 'bye\n' });
    expect(readFileSync(cwdFile, 'utf8')).toBe(`${folder}/deep\n`);
  });

  it('takes a script of many thousand characters', async () => {
    const ran = await run(host, { shellScript: `text='${'é'.repeat(200_000)}'; echo "\${#text}"` });
    expect(ran.stdout).toBe('200000\n');
  });

  it('is read in few chunks where it writes line by line', async () => {
    let chunks = 0;
    let text = '';
    const onOutput = (_: string, chunk: Buffer) => void ((chunks += 1), (text += chunk.toString()));
    const shellScript = 'for ((line = 0; line < 5000; line++)); do echo "$line"; done';
    const child = host.spawn({ file: 'bash', args: [], cwd: '/', shellScript, onOutput });
    expect((await child.exited).code).toBe(0);
    expect(text).toBe(Array.from({ length: 5_000 }, (_, line) => `${line}\n`).join(''));
    expect(chunks).toBeLessThan(500);
  });

  it('begins with the signals of a new program, and leads a session of its own', async () => {
    const shellScript = 'grep -E "^Sig(Blk|Ign)" /proc/self/status; cut -d" " -f6 /proc/$$/stat; echo $$';
    const [blocked, ignored, session, own] = (await run(host, { shellScript })).stdout.trim().split('\n');
    // The lower half: those from 32 on are the C library's own.
    for (const signals of [blocked, ignored]) expect(parseInt(signals?.slice(-8) ?? '', 16) & 0x7fffffff).toBe(0);
    expect(session).toBe(own);
  });

  it('opens its own output again by name', async () => {
    const ran = await run(host, { shellScript: 'echo out >/dev/stdout; echo err | tee /dev/stderr >/dev/null' });
    expect(ran).toMatchObject({ code: 0, stdout: 'out\n', stderr: 'err\n' });
  });

  it('may be a script that names no interpreter', async () => {
    const file = join(folder, 'script');
    writeFileSync(file, 'echo "$0 $1"\n', { mode: 0o755 });
    expect((await run(host, { file, args: ['one'] })).stdout).toBe(`${file} one\n`);
  });

  it('is looked for on the PATH it is given', async () => {
    mkdirSync(join(folder, 'programs', 'greet'), { recursive: true });
    mkdirSync(join(folder, 'more'));
    writeFileSync(join(folder, 'more', 'greet'), '#!/bin/sh\necho hello\n', { mode: 0o755 });
    const env = { PATH: `${folder}/none:${folder}/programs:${folder}/more` };
    expect((await run(host, { file: 'greet', args: [], env })).stdout).toBe('hello\n');
  });

  it('reads what is written to its stdin', async () => {
    let echoed = '';
    const onOutput = (_: string, chunk: Buffer) => void (echoed += chunk.toString());
    const child = host.spawn({ file: 'cat', args: [], cwd: '/', stdin: 'pipe', onOutput });
    await child.write('x'.repeat(300_000));
    child.end();
    expect((await child.exited).code).toBe(0);
    expect(echoed).toHaveLength(300_000);
  });

  it('is handed files open, and nothing in place of a link or of what is gone', async () => {
    writeFileSync(join(folder, 'plain'), 'plain\n');
    symlinkSync(join(folder, 'plain'), join(folder, 'link'));
    const files = ['link', 'plain', 'gone'].map((name) => join(folder, name));
    const args = [5, 6, 7].map((descriptor) => `/dev/fd/${descriptor}`);
    expect(await run(host, { file: 'cat', args, files })).toMatchObject({ code: 0, stdout: 'plain\n' });
    expect(await run(host, { file: 'cat', args: ['/dev/fd/3'] })).toMatchObject({ code: 1 });
  });

  it('can open its output and its input by name', async () => {
    const ran = await run(host, { shellScript: 'echo a >/dev/stderr; echo b | tee /dev/stderr' });
    expect(ran).toMatchObject({ code: 0, stdout: 'b\n', stderr: 'a\nb\n' });
    let echoed = '';
    const onOutput = (_: string, chunk: Buffer) => void (echoed += chunk.toString());
    const child = host.spawn({ file: 'cat', args: ['/dev/stdin'], cwd: '/', stdin: 'pipe', onOutput });
    await child.write('in');
    child.end();
    expect([(await child.exited).code, echoed]).toEqual([0, 'in']);
  });

  it('that does not exist is refused with words', async () => {
    const child = host.spawn({ file: 'no-such-program', args: [], cwd: '/' });
    await expect(child.started).rejects.toMatchObject({ code: 'tool_failed' });
    await expect(child.exited).rejects.toThrow('Cannot start "no-such-program": no such program or folder');
  });

  it('with a NUL in its command is refused', async () => {
    const child = host.spawn({ file: 'bash', args: [], cwd: '/', shellScript: 'echo a\0rm -rf b' });
    await expect(child.started).rejects.toMatchObject({ code: 'tool_failed' });
  });
});
