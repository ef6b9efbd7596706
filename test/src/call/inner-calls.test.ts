/** A tool that makes calls of its own asks the gate its own call went through. */
import { describe, expect, it } from 'vitest';
import { innerCalls } from '../../../src/call/inner-calls.ts';
import { callWorld, ROOT } from '../../helpers/call-services.ts';
import type { Tool } from '../../../src/contract/tool.ts';
import { effectTool } from '../../helpers/fake-tools.ts';
import { plainTool } from '../../helpers/plain-tool.ts';

type World = Parameters<typeof callWorld>[1];

function ask(input: Record<string, unknown>, options: World, changes: Parameters<typeof effectTool>[1] = {}) {
  const { tool } = effectTool('Effect', changes);
  const world = callWorld([tool], options);
  return {
    asked: world.asked,
    answer: innerCalls([tool], world.services, new Set()).canUseTool(tool, input, world.context),
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

it('an allowed inner call runs with the paths that its own gate located, and not with those of the outer call', async () => {
  const seen: (readonly string[])[] = [];
  const pathTool = (name: string, call: Tool['call']) =>
    plainTool(name, { paths: ({ text }) => [{ path: String(text), access: 'read' }], isReadOnly: () => true, call });
  const inner = pathTool('Inner', (input, { located = [] }) => {
    seen.push(located.map(({ real }) => real));
    return Promise.resolve({ data: input });
  });
  const outer = pathTool('Outer', async (input, context, canUseTool, parent) => {
    const tool = context.tools.find(({ name }) => name === 'Inner');
    if (!tool) throw new Error('The inner tool is not listed');
    const { behavior, updatedInput = {} } = await canUseTool(tool, { text: `${ROOT}/inner` }, context);
    if (behavior === 'allow') await tool.call(updatedInput, context, canUseTool, parent);
    return { data: input };
  });
  const { run } = callWorld([inner, outer], { context: { tools: [inner, outer] } });
  expect(await run('Outer', { text: `${ROOT}/outer` })).toMatchObject({ status: 'ok' });
  expect(seen).toEqual([[`${ROOT}/inner`]]);
});
