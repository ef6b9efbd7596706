/** Commands run for real and come back as text, codes and folders. */
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sessionContextIn } from '../../../helpers/tool-use-context.ts';
import { shellToolsIn } from '../../../helpers/shell-tools.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

describe('a command', () => {
  const root = temporaryFolder();
  const shell = shellToolsIn(root);

  it('answers with what it wrote, both streams as they came', async () => {
    const { text } = await shell.run({ command: 'echo one; sleep 0.05; echo two >&2; sleep 0.05; echo three' });
    expect(text).toBe('one\ntwo\nthree');
  });

  it('that writes nothing says so', async () => {
    expect((await shell.run({ command: 'true' })).text).toBe('(no output)');
  });

  it('that fails is an error with its exit code and output', async () => {
    const error = await shell.error({ command: 'echo before; not-a-program' });
    expect(error).toMatchObject({
      code: 'tool_failed',
      message: 'Exit code 127\nbefore\nbash: line 1: not-a-program: command not found',
    });
  });

  it('that ends itself by a signal is an error', async () => {
    expect(await shell.error({ command: 'kill -KILL $$' })).toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('SIGKILL'),
    });
  });

  it('sees an empty stdin', async () => {
    expect((await shell.run({ command: 'cat; echo done' })).text).toBe('done');
  });

  it('shows its progress: at once, then only what is new', async () => {
    const { progress } = await shell.run({ command: 'echo a; sleep 0.02; echo b; echo c >&2; sleep 0.3; echo d' });
    const shown = progress.map(({ data }) => `${data.stream}:${data.text}`);
    expect(shown).toEqual(['stdout:a\n', 'stdout:b\n', 'stderr:c\n', 'stdout:d\n']);
  });

  it('runs its syntax errors into an error', async () => {
    expect(await shell.error({ command: 'echo (' })).toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('syntax error'),
    });
  });
});

describe('the working directory', () => {
  const root = temporaryFolder();
  const shell = shellToolsIn(root);
  mkdirSync(join(root, 'sub'));

  it('carries over to the next call', async () => {
    const { session } = await shell.run({ command: 'cd sub; echo moved > file' });
    expect(session).toMatchObject({ cwd: join(root, 'sub'), version: 2 });
    expect((await shell.run({ command: 'pwd' }, { session })).text).toBe(join(root, 'sub'));
  });

  it('carries over through exit and a trap', async () => {
    const { session } = await shell.run({ command: 'trap "touch x" EXIT; cd sub; exit 0' });
    expect([root, join(root, 'sub')]).toContain(session.cwd);
    expect((await shell.run({ command: 'cd sub; exit 0' })).session.cwd).toBe(join(root, 'sub'));
  });

  it('stays when the shell replaces itself', async () => {
    expect((await shell.run({ command: 'cd sub; exec pwd' })).session.cwd).toBe(root);
  });

  it('is reset with a note when it leaves the workspace', async () => {
    const session = sessionContextIn(root, { cwd: join(root, 'sub') });
    const left = await shell.run({ command: `cd ${tmpdir()}; touch ${root}/y` }, { session });
    expect(left.session.cwd).toBe(root);
    expect(left.text).toContain(`The working directory was reset to "${root}": "${realpathSync(tmpdir())}" is outside`);
  });

  it('is judged by where it really is', async () => {
    symlinkSync('/usr', join(root, 'link'));
    expect((await shell.run({ command: 'cd link; touch ../z 2>&-; true' })).session.cwd).toBe(root);
  });

  it('may be a directory the session was given', async () => {
    const other = temporaryFolder();
    const base = sessionContextIn(root);
    const session = { ...base, permissions: { ...base.permissions, additionalDirectories: [other] } };
    expect((await shell.run({ command: `cd ${other}; touch a` }, { session })).session.cwd).toBe(other);
  });

  it('may be removed by the command without a word of the shell about it', async () => {
    const { text } = await shell.run({ command: 'mkdir doomed && cd doomed && rmdir ../doomed && echo done' });
    expect(text).toBe('done');
  });

  it('that is gone is replaced by the root, with a note', async () => {
    const session = sessionContextIn(root, { cwd: join(root, 'gone') });
    const { text } = await shell.run({ command: 'pwd' }, { session });
    expect(text).toBe(`${root}\nThe working directory "${join(root, 'gone')}" is gone; the command ran in "${root}"`);
  });

  it('cannot be forged into a wait or a place outside', async () => {
    const report = `${shell.context().sessionFolder}/forged.cwd`;
    const forged = await shell.run({ command: `mkfifo ${report}; exec true` }, { toolUseId: 'forged' });
    expect(forged.session.cwd).toBe(root);
    const lied = await shell.run(
      { command: `trap 'echo /etc > ${root}/.session-1/lied.cwd' EXIT; exit 0` },
      { toolUseId: 'lied' },
    );
    expect(lied.session.cwd).toBe(root);
  });
});

describe('a long output', () => {
  const root = temporaryFolder();
  const shell = shellToolsIn(root, { spillBytes: 8_000_000 });

  it('keeps head and tail and stands whole in a private file', async () => {
    const { text } = await shell.run({ command: 'seq 1 1000000' }, { toolUseId: 'long' });
    const path = `${root}/.session-1/long.output`;
    expect(text.startsWith('1\n2\n3\n') && text.endsWith('999999\n1000000')).toBe(true);
    expect(text).toContain(`the whole output was saved to: ${path}]`);
    expect(text.length).toBeLessThan(30_000);
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(1_000_001);
  });

  it('past its limit ends the command with what there was', async () => {
    const error = await shell.error({ command: 'yes' });
    expect(error).toMatchObject({ code: 'output_limit', message: expect.stringContaining('y\ny\n') });
    expect(shell.survivors()).toEqual([]);
  });

  it('that the disk refuses is not lost', async () => {
    writeFileSync(`${root}/no-folder`, '');
    const { text } = await shell.run({ command: 'seq 1 1000000' }, { sessionFolder: `${root}/no-folder` });
    expect(text).toMatch(/characters left out; spill_failed: \w+: the disk refused/);
  });
});

describe('an exit code that is an answer', () => {
  const root = temporaryFolder();
  const shell = shellToolsIn(root);

  it('is one in a jail too, whatever the texts that differ say', async () => {
    const command = 'diff <<<"" - err.txt';
    await shell.run({ command: 'echo "open: Permission denied (EACCES)" >err.txt' });
    expect((await shell.run({ command }, { isHeld: true })).data).toMatchObject({ exitCode: 1 });
    const error = await shell.error({ command: 'cat err.txt >&2; exit 1' }, { isHeld: true });
    expect(error).toMatchObject({ code: 'contained' });
  });

  it('is no error and says what it means', async () => {
    const { text, data } = await shell.run({ command: 'grep nothing /dev/null' });
    expect(text).toBe('(no output)\nExit code 1: no matches found');
    expect(data).toMatchObject({ exitCode: 1 });
  });
});

describe('a repository with settings of its own', () => {
  const root = temporaryFolder();
  const shell = shellToolsIn(root);
  const setUp = [
    'git init -q . && git config user.email a@b && git config user.name a',
    'echo old > file && git add . && git commit -qm first',
    `printf '#!/bin/sh\\ntouch ${root}/ran\\n' > hook && chmod +x hook && echo new > file`,
    ...['core.fsmonitor', 'core.pager', 'gpg.program'].map((key) => `git config ${key} ./hook`),
    'git config log.showSignature true',
  ];

  it.each([
    ['git status --short', ' M file'],
    ['git diff', '+new'],
    ['git --no-pager diff', '+new'],
    ['git log -p', '+old'],
    ['git show', '+old'],
    ['git ls-files', 'file'],
    ['git blame file', 'new'],
  ])('is read by "%s" without running any of them', async (command, shown) => {
    if (!existsSync(join(root, 'hook'))) await shell.run({ command: setUp.join(' && ') });
    expect(shell.bash.isReadOnly({ command })).toBe(true);
    expect((await shell.run({ command })).text).toContain(shown);
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });
});

describe('a clone that lacks files', () => {
  const origin = temporaryFolder();
  const shell = shellToolsIn(temporaryFolder());

  it('is read without fetching them', async () => {
    const setUp = [
      `git init -q ${origin} && git -C ${origin} config uploadpack.allowFilter true && echo old > ${origin}/file`,
      `git -C ${origin} add . && git -C ${origin} -c user.email=a@b -c user.name=a commit -qm first`,
      `git init -q . && git remote add origin file://${origin} && git fetch -q --filter=blob:none origin HEAD`,
    ];
    await shell.run({ command: setUp.join(' && ') });
    expect(shell.bash.isReadOnly({ command: 'git show FETCH_HEAD:file' })).toBe(true);
    expect(await shell.error({ command: 'git show FETCH_HEAD:file' })).toMatchObject({
      message: expect.stringContaining('could not fetch') as string,
    });
  });
});
