/** May it run? What is judged, what is asked about and what runs are one input. */
import { describe, expect, it } from 'vitest';
import type { PermissionResult } from '../../../src/wire/decision.ts';
import type { ToolUseContext } from '../../../src/tool/tool.ts';
import { callWorld, ROOT } from '../../helpers/call-services.ts';
import { effectTool } from '../../helpers/fake-tools.ts';

const allow = () => ({ behavior: 'allow' }) as const;
type Input = Record<string, unknown>;

describe('the gate', () => {
  it('runs what a rule allows, and asks nobody', async () => {
    const { tool, effects } = effectTool();
    const world = callWorld([tool], { rules: { allow: ['Effect'] } });
    expect(await world.run('Effect', { text: 'a' })).toMatchObject({ status: 'ok', didRun: true });
    expect([effects, world.asked]).toEqual([['a'], []]);
  });

  it('asks about what no rule covers, and a no ends it', async () => {
    const { tool, effects } = effectTool();
    const world = callWorld([tool], { answer: () => ({ behavior: 'deny', message: 'Not today' }) });
    expect(await world.run('Effect', { text: 'a' })).toMatchObject({
      status: 'denied',
      errorCode: 'permission_denied',
      content: 'Not today',
      didRun: false,
    });
    expect(effects).toEqual([]);
  });

  it('lets a deny rule beat an allow rule, and asks nobody', async () => {
    const { tool, effects } = effectTool('Effect', {
      preparePermissionMatcher: () => ({ hits: (specs) => specs[0], covers: (specs) => specs }),
    });
    const world = callWorld([tool], { rules: { allow: ['Effect'], deny: ['Effect(a)'] }, answer: allow });
    expect(await world.run('Effect', { text: 'a' })).toMatchObject({ status: 'denied' });
    expect([effects, world.asked]).toEqual([[], []]);
  });

  it('ends with what validateInput says before anything is decided', async () => {
    const { tool } = effectTool('Effect', { validateInput: () => ({ result: false, message: 'Read it first' }) });
    const world = callWorld([tool], { answer: allow });
    expect(await world.run('Effect', {})).toMatchObject({ errorCode: 'invalid_input', content: 'Read it first' });
    expect(world.asked).toEqual([]);
  });

  it('runs nothing when a gate of the tool throws', async () => {
    const broken = () => {
      throw new Error('a bug');
    };
    const { tool, effects } = effectTool('Effect', { validateInput: broken });
    expect(await callWorld([tool], { rules: { allow: ['Effect'] } }).run('Effect', {})).toMatchObject({
      errorCode: 'tool_failed',
      didRun: false,
    });
    expect(effects).toEqual([]);
  });

  it('draws a refusal as the tool wants it', async () => {
    const { tool } = effectTool('Effect', {
      renderToolUseRejectedMessage: (_, message) => ({ title: `no: ${message}`, blocks: [] }),
    });
    const world = callWorld([tool], { answer: () => ({ behavior: 'deny', message: 'Not today' }) });
    expect((await world.run('Effect', {})).display.title).toBe('no: Not today');
  });
});

describe('an input that a person changed', () => {
  const deniesX = {
    checkPermissions: (input: Input): PermissionResult =>
      input['text'] === 'x' ? { behavior: 'deny', message: 'never x' } : { behavior: 'allow' },
  };

  it('is what runs, and is not asked about again', async () => {
    const { tool, effects } = effectTool();
    const world = callWorld([tool], { answer: () => ({ behavior: 'allow', updatedInput: { text: 'b' } }) });
    expect(await world.run('Effect', { text: 'a' })).toMatchObject({ status: 'ok' });
    expect(effects).toEqual(['b']);
    expect(world.asked).toHaveLength(1);
    expect(world.admitted[0]?.isInputChanged).toBe(true);
  });

  it('is parsed again', async () => {
    const { tool, effects } = effectTool();
    const world = callWorld([tool], { answer: () => ({ behavior: 'allow', updatedInput: { text: 'b', more: 1 } }) });
    expect(await world.run('Effect', { text: 'a' })).toMatchObject({ errorCode: 'invalid_input' });
    expect(effects).toEqual([]);
  });

  it('is judged again: a denial holds whoever wrote it', async () => {
    const { tool, effects } = effectTool('Effect', deniesX);
    const world = callWorld([tool], { answer: () => ({ behavior: 'allow', updatedInput: { text: 'x' } }) });
    expect(await world.run('Effect', { text: 'a' })).toMatchObject({ status: 'denied', content: 'never x' });
    expect(effects).toEqual([]);
  });

  it('never carries the fields that were added for people to see', async () => {
    const { tool, effects } = effectTool('Effect', {
      backfillObservableInput: (clone) => void (clone['seen'] = `shown ${String(clone['text'])}`),
    });
    const world = callWorld([tool], {
      answer: ({ observable }) => ({ behavior: 'allow', updatedInput: { ...observable, text: 'b' } }),
    });
    expect(await world.run('Effect', { text: 'a' })).toMatchObject({ status: 'ok' });
    expect(world.asked[0]?.observable).toEqual({ text: 'a', seen: 'shown a' });
    expect(effects).toEqual(['b']);
  });

  it('keeps what the tool only showed differently as it was', async () => {
    const { tool, effects } = effectTool('Effect', {
      backfillObservableInput: (clone) => void (clone['text'] = `/work/${String(clone['text'])}`),
    });
    const world = callWorld([tool], { answer: ({ observable }) => ({ behavior: 'allow', updatedInput: observable }) });
    expect(await world.run('Effect', { text: 'a' })).toMatchObject({ status: 'ok' });
    expect(world.asked.map(({ observable }) => observable)).toEqual([{ text: '/work/a' }]);
    expect(effects).toEqual(['a']);
  });
});

describe('an input that the tool itself changes', () => {
  const upper = {
    checkPermissions: (input: Input): PermissionResult => ({
      behavior: 'allow',
      updatedInput: { text: String(input['text']).toUpperCase() },
    }),
  };

  it('is what people are asked about, and what runs', async () => {
    const { tool, effects } = effectTool('Effect', upper);
    const world = callWorld([tool], { answer: allow });
    expect(await world.run('Effect', { text: 'a' })).toMatchObject({ status: 'ok' });
    expect(world.asked.map(({ invocation }) => invocation.input)).toEqual([{ text: 'A' }]);
    expect(effects).toEqual(['A']);
  });

  it('after a person allowed another one is asked about again', async () => {
    const { tool, effects } = effectTool('Effect', upper);
    const world = callWorld([tool], {
      answer: ({ invocation: { input } }) => ({
        behavior: 'allow',
        ...(input['text'] === 'A' ? { updatedInput: { text: 'b' } } : {}),
      }),
    });
    expect(await world.run('Effect', { text: 'a' })).toMatchObject({ status: 'ok' });
    expect(world.asked.map(({ invocation }) => invocation.input)).toEqual([{ text: 'A' }, { text: 'B' }]);
    expect(effects).toEqual(['B']);
  });

  it('again and again is refused', async () => {
    let round = 0;
    const { tool, effects } = effectTool('Effect', {
      checkPermissions: () => ({ behavior: 'allow', updatedInput: { text: `${round++}` } }),
    });
    const world = callWorld([tool], { rules: { allow: ['Effect'] } });
    expect(await world.run('Effect', { text: 'a' })).toMatchObject({ status: 'denied' });
    expect(effects).toEqual([]);
  });
});

describe('the paths of an input', () => {
  it('reach the tool as the decision located them', async () => {
    const seen: ToolUseContext['located'][] = [];
    const { tool } = effectTool('Effect', {
      paths: () => [
        { path: `${ROOT}/a`, access: 'read' },
        { path: `${ROOT}/b`, access: 'write' },
      ],
      call: (input, { located }) => {
        seen.push(located);
        return Promise.resolve({ data: input });
      },
    });
    await callWorld([tool], { answer: allow }).run('Effect', {});
    expect(seen[0]?.map(({ real }) => real)).toEqual([`${ROOT}/a`, `${ROOT}/b`]);
  });
});
