/** A tool that makes calls of its own asks the gate its own call went through. */
import { describe, expect, it } from 'vitest';
import { createCanUseTool } from '../../../src/call/execute.ts';
import { callWorld } from '../../helpers/call-services.ts';
import { effectTool } from '../../helpers/fake-tools.ts';

type World = Parameters<typeof callWorld>[1];

function ask(input: Record<string, unknown>, options: World, changes: Parameters<typeof effectTool>[1] = {}) {
  const { tool } = effectTool('Effect', changes);
  const world = callWorld([tool], options);
  return {
    asked: world.asked,
    answer: createCanUseTool(world.services, new Set())(tool, input, world.context),
  };
}

describe('canUseTool', () => {
  it('allows what a rule allows, with the input that was judged', async () => {
    const { answer, asked } = ask({ text: 'a' }, { rules: { allow: ['Effect'] } });
    expect(await answer).toMatchObject({ behavior: 'allow', updatedInput: { text: 'a' } });
    expect(asked).toEqual([]);
  });

  it('denies what a rule denies', async () => {
    const { answer } = ask({ text: 'a' }, { rules: { allow: ['Effect'], deny: ['Effect(a)'] } });
    expect(await answer).toMatchObject({ behavior: 'deny', reason: { type: 'rule', rule: 'Effect(a)' } });
  });

  it('asks a person, whose no holds and whose changes are judged', async () => {
    const no = ask({ text: 'a' }, { answer: () => ({ behavior: 'deny', message: 'Not today' }) });
    expect(await no.answer).toMatchObject({ behavior: 'deny', message: 'Not today' });
    const changed = ask({ text: 'a' }, { answer: () => ({ behavior: 'allow', updatedInput: { text: 'b' } }) });
    expect(await changed.answer).toMatchObject({ behavior: 'allow', updatedInput: { text: 'b' } });
  });

  it('refuses an input that does not fit, or that the tool finds wrong', async () => {
    expect(await ask({ more: 1 }, { rules: { allow: ['Effect'] } }).answer).toMatchObject({
      behavior: 'deny',
      message: expect.stringMatching(/^InputValidationError/) as string,
    });
    const wrong = ask(
      {},
      { rules: { allow: ['Effect'] } },
      { validateInput: () => ({ result: false, message: 'Read it first' }) },
    );
    expect(await wrong.answer).toMatchObject({ behavior: 'deny', message: 'Read it first' });
  });
});
