/** The tool runs, and ends whatever it does. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { GauntletError } from '../../../src/base/errors.ts';
import { callWorld } from '../../helpers/call-services.ts';
import { effectTool, slowTool } from '../../helpers/fake-tools.ts';
import { afterMicrotasks } from '../../helpers/fake-call.ts';

function cancellable() {
  const controller = new AbortController();
  return { signal: controller.signal, cancel: () => controller.abort(new GauntletError('cancelled', 'By the client')) };
}
const rules = { allow: ['Effect'] };

describe('a running tool', () => {
  it('that throws has failed, with its own code where it has one', async () => {
    const failing = (error: Error) =>
      callWorld([effectTool('Effect', { call: () => Promise.reject(error) }).tool], { rules }).run('Effect', {});
    expect(await failing(new GauntletError('timeout', 'Too slow'))).toMatchObject({
      errorCode: 'timeout',
      content: 'Too slow',
      didRun: true,
    });
    expect(await failing(new Error('a bug'))).toMatchObject({
      errorCode: 'tool_failed',
      content: 'a bug',
      didRun: true,
    });
    expect(await failing(new GauntletError('not_found', 'No such page'))).toMatchObject({ errorCode: 'tool_failed' });
  });

  it('that throws before it gives a promise has failed all the same', async () => {
    const call = () => {
      throw new Error('at once');
    };
    expect(await callWorld([effectTool('Effect', { call }).tool], { rules }).run('Effect', {})).toMatchObject({
      errorCode: 'tool_failed',
      content: 'at once',
    });
  });

  it('that is cancelled ends with the reason, whatever it throws', async () => {
    const { signal, cancel } = cancellable();
    const slow = slowTool();
    const running = callWorld([slow.tool], { context: { signal } }).run('Slow', { text: 'a' });
    await slow.isRunning('a');
    cancel();
    expect(await running).toMatchObject({ status: 'cancelled', content: 'By the client', didRun: true });
  });

  it('that goes on to its end although it was cancelled stays cancelled, its modifier dropped', async () => {
    const { signal, cancel } = cancellable();
    const { tool } = effectTool('Effect', {
      call: async (input) => {
        cancel();
        await afterMicrotasks();
        return { data: input, contextModifier: (context) => context };
      },
    });
    const outcome = await callWorld([tool], { rules, context: { signal } }).run('Effect', {});
    expect(outcome).toMatchObject({ status: 'cancelled', errorCode: 'cancelled' });
    expect(outcome.contextModifier).toBeUndefined();
  });

  it('that never listens to its signal is given up', async () => {
    const { signal, cancel } = cancellable();
    const { tool } = effectTool('Effect', {
      call: () => {
        cancel();
        return new Promise(() => undefined);
      },
    });
    expect(await callWorld([tool], { rules, context: { signal }, abandonMs: 5 }).run('Effect', {})).toMatchObject({
      status: 'cancelled',
    });
  });

  it('leaves no listener on its signal', async () => {
    const { signal } = cancellable();
    await callWorld([effectTool().tool], { rules, context: { signal } }).run('Effect', {});
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('cancelled while somebody is asked never begins', async () => {
    const { signal, cancel } = cancellable();
    const { tool, effects } = effectTool();
    const answer = () => {
      cancel();
      return { behavior: 'allow' } as const;
    };
    expect(await callWorld([tool], { context: { signal }, answer }).run('Effect', {})).toMatchObject({
      status: 'cancelled',
      didRun: false,
    });
    expect(effects).toEqual([]);
  });

  it('says how it gets on at once, and draws its result from the latest', async () => {
    let drawn = 0;
    const { tool } = effectTool('Effect', {
      call: (input, _context, _canUseTool, _message, onProgress) => {
        for (let n = 0; n < 60; n++) onProgress?.({ data: { type: 'status' } });
        return Promise.resolve({ data: input });
      },
      renderToolResultMessage: (_output, progress) => {
        drawn = progress.length;
        return { title: 'done', blocks: [] };
      },
    });
    const world = callWorld([tool], { rules });
    await world.run('Effect', {});
    expect([world.progress.length, drawn]).toEqual([60, 50]);
  });
});
