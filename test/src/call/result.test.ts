/** What a run came to, as a tool_result and as something to draw. */
import { describe, expect, it } from 'vitest';
import { callWorld } from '../../helpers/call-services.ts';
import { effectTool } from '../../helpers/fake-tools.ts';

type Changes = Parameters<typeof effectTool>[1];
const runWith = (changes: Changes) =>
  callWorld([effectTool('Effect', changes).tool], { rules: { allow: ['Effect'] } }).run('Effect', { text: 'a' });

describe('a result', () => {
  it('of a tool that draws nothing is shown by its name and text', async () => {
    expect((await runWith({})).display).toEqual({
      title: 'Effect',
      tone: 'success',
      blocks: [{ kind: 'text', text: '{"text":"a"}' }],
    });
  });

  it('that the tool marks as an error is a failed call with the same content', async () => {
    const content = [{ type: 'text' as const, text: 'server said no' }];
    const outcome = await runWith({
      mapToolResultToToolResultBlockParam: (_, id) => ({
        type: 'tool_result',
        tool_use_id: id,
        content,
        is_error: true,
      }),
    });
    expect(outcome).toMatchObject({ status: 'error', errorCode: 'tool_failed', content, didRun: true });
  });

  it('carries new messages and the context modifier', async () => {
    const newMessages = [{ role: 'user' as const, content: 'remember' }];
    const outcome = await runWith({
      call: () => Promise.resolve({ data: {}, newMessages, contextModifier: (context) => context }),
    });
    expect(outcome.newMessages).toEqual(newMessages);
    expect(outcome.contextModifier).toBeTypeOf('function');
  });

  it.each([
    [
      'a mapping that throws',
      {
        mapToolResultToToolResultBlockParam: () => {
          throw new Error('no');
        },
      },
    ],
    ['no content at all', { mapToolResultToToolResultBlockParam: () => ({ type: 'tool_result', tool_use_id: 'a' }) }],
    [
      'a number of huge size',
      {
        mapToolResultToToolResultBlockParam: () => ({
          type: 'tool_result',
          tool_use_id: 'a',
          content: [{ type: 'text', text: 1n }],
        }),
      },
    ],
    [
      'a drawing that throws',
      {
        renderToolResultMessage: () => {
          throw new Error('no');
        },
      },
    ],
    [
      'a drawing that holds itself',
      {
        renderToolResultMessage: () => {
          const display: Record<string, unknown> = { title: 'x', blocks: [] };
          display['self'] = display;
          return display;
        },
      },
    ],
    ['no result', { call: () => Promise.resolve(undefined) }],
  ])('with %s is a failed call', async (_what, changes) => {
    expect(await runWith(changes as unknown as Changes)).toMatchObject({ errorCode: 'tool_failed', didRun: true });
  });

  it('may hold as much as its tool says, and no more than the server lets it', async () => {
    expect((await runWith({ maxResultSizeChars: 20 })).budget).toEqual({
      limitChars: 20,
      isInTurnSum: true,
      isCut: false,
    });
    expect((await runWith({ maxResultSizeChars: 900_000 })).budget.limitChars).toBe(50_000);
    expect((await runWith({ maxResultSizeChars: 300_000, isOutsideTurnBudget: true })).budget).toMatchObject({
      limitChars: 300_000,
      isInTurnSum: false,
    });
    expect((await runWith({ maxResultSizeChars: Infinity })).budget).toMatchObject({
      limitChars: Infinity,
      isCut: true,
    });
  });
});
