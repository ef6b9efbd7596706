/** Small programs: text in, two texts out, nothing left behind. */
import { describe, expect, it } from 'vitest';
import { runProgram, type ProgramRun } from '../../../src/process/run-program.ts';
import { processesWith, testProcessHost, until } from '../../helpers/process-host.ts';

const host = testProcessHost();
const script = (text: string, changes: Partial<ProgramRun> = {}) =>
  runProgram(host, {
    file: 'bash',
    args: ['-c', text],
    cwd: '/',
    env: {},
    input: '',
    timeoutMs: 10_000,
    outputBytes: 1_000,
    signal: new AbortController().signal,
    ...changes,
  });

describe('a program', () => {
  it('reads its input and answers on both pipes', async () => {
    const end = await script('cat; echo no >&2; exit 3', { input: 'ü' });
    expect(end).toEqual({ code: 3, signal: null, stdout: 'ü', stderr: 'no\n' });
  });

  it.each([
    ['time', 'sleep 999', { timeoutMs: 50 }, 'timeout'],
    ['output', 'yes', {}, 'output_limit'],
    ['output on standard error', 'yes >&2', {}, 'output_limit'],
  ] as const)('that takes too much %s is ended', async (_what, text, changes, stoppedBy) => {
    expect(await script(text, changes)).toMatchObject({ stoppedBy });
  });

  it('is ended with its signal, and not begun after it', async () => {
    const controller = new AbortController();
    const running = script('sleep 999', { signal: controller.signal });
    controller.abort();
    expect(await running).toMatchObject({ stoppedBy: 'signal' });
    await expect(script('true', { signal: controller.signal })).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('leaves nothing behind that it started and did not wait for', async () => {
    await script('sleep 999 & echo done', { env: { CANARY: 'left-behind' } });
    await until(() => processesWith('CANARY=left-behind').length === 0);
  });
});
