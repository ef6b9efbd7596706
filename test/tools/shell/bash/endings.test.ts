/** However a command ends, it leaves no process behind and no secret got in. */
import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { until } from '../../../helpers/process-host.ts';
import { shellToolsIn } from '../../../helpers/shell-tools.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

/** A call may be this late on a machine that runs other tests; the bar is 250 ms on a quiet one. */
const LATE_MS = 1_000;

describe('a command that does not want to end', () => {
  const shell = shellToolsIn(temporaryFolder(), { killGraceMs: 300 });

  it('is killed with its grandchild after timeout and grace (F13)', async () => {
    const started = performance.now();
    const command = 'trap "" TERM; sleep 30 & echo started; wait; wait';
    const error = await shell.error({ command, timeout: 300 });
    expect(error).toMatchObject({ code: 'timeout', message: expect.stringMatching(/after 300 ms.*\nstarted$/) });
    expect(performance.now() - started).toBeLessThan(300 + 300 + LATE_MS);
    expect(shell.survivors()).toEqual([]);
  });

  it('cannot flee into a session of its own (F14)', async () => {
    await shell.run({ command: 'setsid sleep 60 & setsid setsid sleep 61 & sleep 0.05; touch x' });
    await until(() => shell.survivors().length === 0);
  });

  it('does not hold its call up with a background child (F15)', async () => {
    const started = performance.now();
    const { text } = await shell.run({ command: 'sleep 20 & echo hi' });
    expect(performance.now() - started).toBeLessThan(LATE_MS);
    expect(text).toBe('hi\nWhat the command left running was ended with it; use run_in_background to keep a process');
    await until(() => shell.survivors().length === 0);
  });

  it('ends with its cancelled call', async () => {
    const controller = new AbortController();
    const ended = shell.error({ command: 'echo on; setsid sleep 30 & sleep 30' }, { signal: controller.signal });
    await until(() => shell.survivors().length >= 3);
    controller.abort();
    expect(await ended).toMatchObject({ code: 'cancelled' });
    expect(shell.survivors()).toEqual([]);
  });

  it('is not started when its call was cancelled before', async () => {
    const error = await shell.error({ command: 'touch never' }, { signal: AbortSignal.abort() });
    expect(error).toMatchObject({ code: 'cancelled' });
  });
});

describe('a flood', () => {
  const root = temporaryFolder();
  const shell = shellToolsIn(root);

  it('ends at the limit, in little memory and few frames (F16)', async () => {
    const before = process.memoryUsage.rss();
    const progress: number[] = [];
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
    const context = shell.context({ toolUseId: 'flood' });
    const input = shell.tools.bash.inputSchema.parse({ command: 'yes', timeout: 10_000 });
    const started = performance.now();
    const error: unknown = await shell.tools.bash
      .call(
        input,
        context,
        () => Promise.reject(new Error('not asked')),
        { role: 'assistant', content: [] },
        () => progress.push(performance.now()),
      )
      .catch((reason: unknown) => reason);
    clearInterval(watch);
    expect(error).toMatchObject({ code: 'output_limit' });
    expect(statSync(`${root}/.session-1/flood.output`).size).toBe(shell.limits.spillBytes);
    expect(most - before).toBeLessThan(64 * 1_024 * 1_024);
    expect(progress.length).toBeLessThanOrEqual((performance.now() - started) / 100 + 3);
  });

  it('of one endless line is bounded as well (F17)', async () => {
    const error = await shell.error({ command: "head -c 100000000 /dev/zero | tr '\\0' a" });
    expect(error).toMatchObject({ code: 'output_limit' });
    expect((error as Error).message.length).toBeLessThan(30_000);
  });

  it('of bytes that are no text gives whole characters and exact bytes (F18)', async () => {
    const { text, progress } = await shell.run({
      command: "printf '\\xff\\xfe\\x00'; printf '\\xc3'; sleep 0.03; printf '\\xa9'",
    });
    expect(text).toBe('\ufffd\ufffd\0é');
    for (const { data } of progress) expect(Buffer.from(data.text).toString()).toBe(data.text);
  });
});

describe('the environment of a command', () => {
  process.env['GAUNTLET_TOKEN'] = 'canary-token';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'canary-aws';
  process.env['SOME_API_KEY'] = 'canary-key';
  const shell = shellToolsIn(temporaryFolder());

  it('holds what was allowed and no secret, its own and its parent’s (F22)', async () => {
    const { text } = await shell.run({ command: "env; tr '\\0' '\\n' < /proc/$PPID/environ" });
    expect(text).not.toMatch(/canary|NODE_OPTIONS/);
    const names = [...text.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    const allowed = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'GAUNTLET_CALL_ID', 'PWD', 'SHLVL', '_'];
    expect(
      names.filter((name) => !allowed.includes(name as string) && !name?.startsWith('GIT_') && name !== 'PAGER'),
    ).toEqual([]);
  });
});

describe('a command in the background', () => {
  const shell = shellToolsIn(temporaryFolder());

  it('answers at once and is asked about later', async () => {
    const { data } = await shell.run({ command: 'echo begun; sleep 0.1; echo done; exit 3', run_in_background: true });
    if (data.type !== 'background') throw new Error('It did not go into the background');
    const wait = { signal: new AbortController().signal, timeoutMs: 5_000 } as const;
    await shell.tasks.wait(data.taskId, wait);
    const reading = await shell.tasks.read(data.taskId);
    expect(reading).toMatchObject({ state: 'failed', exitCode: 3, news: { head: 'begun\ndone\n' } });
    expect(readFileSync(data.outputPath, 'utf8')).toBe('begun\ndone\n');
  });

  it('ends with all it started when it is stopped', async () => {
    const { data } = await shell.run({ command: 'setsid sleep 30 & sleep 30', run_in_background: true });
    if (data.type !== 'background') throw new Error('It did not go into the background');
    await until(() => shell.survivors().length >= 3);
    expect(await shell.tasks.stop(data.taskId)).toMatchObject({ state: 'killed' });
    expect(shell.survivors()).toEqual([]);
  });
});
