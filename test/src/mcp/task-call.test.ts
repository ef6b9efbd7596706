/** Tools that are called as tasks, on a real server of the SDK. */
import { describe, expect, test } from 'vitest';
import type { AskMidCall } from '../../../src/tool/mid-call-question.ts';
import { callTool, startServers } from '../../helpers/mcp-servers.ts';
import { allowEverything, parentMessage, toolUseContextIn } from '../../helpers/tool-use-context.ts';

const signal = AbortSignal.timeout(60_000);
const program = new URL('../../fixtures/task-server.mjs', import.meta.url).pathname;

async function start() {
  const servers = startServers({ tasks: { command: process.execPath, args: [program] } });
  await servers.ready('tasks', signal);
  return servers;
}

describe('a tool that is called as a task', () => {
  test('tells of its statuses and has its result, whether it demands or offers that', async () => {
    const servers = await start();
    for (const name of ['slow', 'either']) {
      const seen: { progress?: number; message?: string }[] = [];
      const result = await callTool(servers, `mcp__tasks__${name}`, {}, { onProgress: (data) => seen.push(data) });
      expect(result).toMatchObject({ content: 'done' });
      expect(seen.map(({ message }) => message)).toEqual(expect.arrayContaining(['step 1', 'step 2']));
      expect(seen.map(({ progress }) => progress)).toEqual(seen.map((_each, index) => index + 1));
    }
  });

  test('that is cancelled is cancelled at the server', async () => {
    const servers = await start();
    const abort = new AbortController();
    const call = callTool(
      servers,
      'mcp__tasks__slow',
      { steps: 1_000 },
      { signal: abort.signal, onProgress: () => abort.abort() },
    );
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    const count = async () => (await callTool(servers, 'mcp__tasks__cancelled')).content;
    for (let round = 0; round < 100 && (await count()) !== '1'; round++);
    expect(await count()).toBe('1');
  });

  test('that fails, or that the server gives up, has failed', async () => {
    const servers = await start();
    await expect(callTool(servers, 'mcp__tasks__slow', { end: 'failed' })).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('done'),
    });
    await expect(callTool(servers, 'mcp__tasks__slow', { end: 'cancelled' })).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('no time for it'),
    });
  });

  test('asks for what it needs while it works', async () => {
    const servers = await start();
    const slow = servers.tools().find(({ name }) => name === 'mcp__tasks__slow');
    const questions: string[] = [];
    const ask: AskMidCall = (question) => {
      questions.push(question.description);
      return Promise.resolve({ behavior: 'allow', updatedInput: { answers: { which: 'the other' } } });
    };
    const context = toolUseContextIn(process.cwd(), { ask });
    const { data } = (await slow?.call({ ask: true }, context, allowEverything, parentMessage)) ?? {};
    expect(questions).toEqual(['Which one?']);
    expect(data).toMatchObject({ content: [{ text: 'chose the other' }] });
  });
});
