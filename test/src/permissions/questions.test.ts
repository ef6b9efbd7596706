/** Open questions: durable, answered once, settled by the first answer. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PermissionDecision } from '../../../src/wire/decision.ts';
import type { NewFrame, PermissionRequestFrame } from '../../../src/wire/frames.ts';
import { Questions, type QuestionToAsk } from '../../../src/permissions/questions.ts';

afterEach(() => {
  vi.useRealTimers();
});

function table(options: { readonly mostOpen?: number; readonly emit?: (frame: NewFrame) => Promise<unknown> } = {}) {
  const frames: NewFrame[] = [];
  const emit = options.emit ?? ((frame: NewFrame) => Promise.resolve(frames.push(frame)));
  const questions = new Questions(emit, options.mostOpen ?? 10);
  const controller = new AbortController();
  /** Ask about a call, and do not wait for the answer. */
  const ask = (toolUseId = 'a', changes: Partial<QuestionToAsk> = {}) => {
    const request = { tool_use_id: toolUseId, tool_name: 'Bash', input: { command: 'rm x' }, title: 'May it?' };
    const drawn = {
      display: { title: 'rm x', blocks: [] },
      reason: { type: 'default' },
      destructive: true,
      warnings: [],
      suggestions: [],
    } as const;
    return questions.ask(
      {
        request: { ...request, ...drawn },
        timeoutMs: 60_000,
        rejudge: () => Promise.resolve(decision('ask')),
        ...changes,
      },
      controller.signal,
    );
  };
  const firstId = () => questions.open[0]?.request_id ?? '';
  const resolved = () =>
    frames.flatMap((frame) => (frame.type === 'permission_resolved' ? [`${frame.behavior} by ${frame.by}`] : []));
  return { questions, frames, ask, firstId, resolved, cancel: (reason: Error) => controller.abort(reason) };
}

function decision(behavior: PermissionDecision['behavior']): PermissionDecision {
  return { behavior, reason: { type: 'rule' }, message: `${behavior} it`, suggestions: [], warnings: [] };
}

/** A question as a log from before a restart has it. */
function logged(changes: Partial<PermissionRequestFrame> = {}): PermissionRequestFrame {
  return {
    type: 'permission_request',
    request_id: 'ask_1',
    tool_use_id: 'a',
    tool_name: 'Bash',
    input: { command: 'rm x' },
    title: 'May it?',
    display: { title: 'rm x', blocks: [] },
    reason: { type: 'default' },
    destructive: true,
    warnings: [],
    suggestions: [],
    expires_at: new Date(Date.now() + 60_000).toISOString(),
    ...changes,
  };
}

describe('a question', () => {
  it('is open until somebody answers, and the answer ends it', async () => {
    const { questions, ask, firstId, resolved } = table();
    const asked = ask();
    expect(questions.open).toHaveLength(1);
    expect(await questions.answer(firstId(), { behavior: 'allow', updatedInput: { command: 'ls' } }, 'ann')).toEqual({
      behavior: 'allow',
      by: 'ann',
    });
    expect(await asked).toEqual({ behavior: 'allow', updatedInput: { command: 'ls' } });
    expect(questions.open).toEqual([]);
    expect(resolved()).toEqual(['allow by ann']);
  });

  it('goes to the first of two who answer at the same time; the other learns who it was', async () => {
    const { questions, ask, firstId } = table();
    const asked = ask();
    const id = firstId();
    const answers = await Promise.allSettled([
      questions.answer(id, { behavior: 'deny', message: 'No' }, 'ann'),
      questions.answer(id, { behavior: 'allow' }, 'bob'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(answers[1]).toMatchObject({
      reason: { code: 'conflict', details: { reason: 'already_resolved', behavior: 'deny', by: 'ann' } },
    });
    expect(await asked).toMatchObject({ behavior: 'deny', message: 'Denied by the user: No' });
  });

  it('that never was is not found', async () => {
    await expect(table().questions.answer('ask_0', { behavior: 'allow' }, 'ann')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is answered "no" when its time is over', async () => {
    vi.useFakeTimers();
    const { ask, questions, firstId, resolved } = table();
    const asked = ask('a', { timeoutMs: 1_000 });
    const id = firstId();
    await vi.advanceTimersByTimeAsync(1_001);
    expect(await asked).toMatchObject({ behavior: 'deny' });
    expect(resolved()).toEqual(['deny by timeout']);
    await expect(questions.answer(id, { behavior: 'allow' }, 'late')).rejects.toMatchObject({ code: 'conflict' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is withdrawn when its call is cancelled, and leaves no timer', async () => {
    vi.useFakeTimers();
    const { ask, cancel, questions, resolved } = table();
    const asked = ask();
    cancel(new Error('cancelled'));
    await expect(asked).rejects.toThrow('cancelled');
    expect(questions.open).toEqual([]);
    expect(resolved()).toEqual(['deny by cancelled']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is not put for a call that is cancelled already', async () => {
    const { ask, cancel, frames } = table();
    cancel(new Error('cancelled'));
    await expect(ask()).rejects.toThrow('cancelled');
    expect(frames).toEqual([]);
  });

  it('is refused past the limit of open ones', async () => {
    const { ask, questions } = table({ mostOpen: 1 });
    void ask('a');
    expect(await ask('b')).toMatchObject({
      behavior: 'deny',
      message: expect.stringContaining('1 questions') as string,
    });
    expect(questions.open).toHaveLength(1);
  });

  it('that cannot be logged is not open: its call fails', async () => {
    const { ask, questions } = table({ emit: () => Promise.reject(new Error('disk full')) });
    await expect(ask()).rejects.toThrow('disk full');
    expect(questions.open).toEqual([]);
  });
});

describe('new rules', () => {
  it('settle the questions they decide, and leave the others', async () => {
    const { ask, questions, resolved } = table();
    const answers = [
      ask('a', { rejudge: () => Promise.resolve(decision('allow')) }),
      ask('b', { rejudge: () => Promise.resolve(decision('deny')) }),
    ];
    void ask('c');
    void ask('d', { rejudge: () => Promise.reject(new Error('cannot judge')) });
    await questions.rejudgeAll();
    expect(await Promise.all(answers)).toEqual([{ behavior: 'allow' }, { behavior: 'deny', message: 'deny it' }]);
    expect(questions.open.map(({ tool_use_id }) => tool_use_id)).toEqual(['c', 'd']);
    expect(resolved()).toEqual(['allow by rule', 'deny by rule']);
  });
});

describe('a question from before a restart', () => {
  it('is open at once, and its call is not asked a second time', async () => {
    const { questions, ask, frames } = table();
    questions.restore(logged());
    expect(questions.open.map(({ request_id }) => request_id)).toEqual(['ask_1']);
    const asked = ask();
    await questions.answer('ask_1', { behavior: 'allow' }, 'ann');
    expect(await asked).toEqual({ behavior: 'allow' });
    expect(frames.map(({ type }) => type)).toEqual(['permission_resolved']);
  });

  it('may be answered before its call is at its gate again', async () => {
    const { questions, ask } = table();
    questions.restore(logged());
    await questions.answer('ask_1', { behavior: 'deny' }, 'ann');
    expect(await ask()).toMatchObject({ behavior: 'deny' });
  });

  it('is asked anew where another input would run than the one that was shown', async () => {
    const { questions, ask, resolved } = table();
    questions.restore(logged({ input: { command: 'ls' } }));
    void ask();
    expect(questions.open.map(({ input }) => input)).toEqual([{ command: 'rm x' }]);
    expect(resolved()).toEqual(['deny by cancelled']);
  });

  it('that was answered does not speak for another input', async () => {
    const { questions, ask } = table();
    questions.restore(logged({ input: { command: 'ls' } }));
    await questions.answer('ask_1', { behavior: 'allow' }, 'ann');
    void ask();
    expect(questions.open).toHaveLength(1);
  });

  it('that expired meanwhile is denied', async () => {
    const { questions, ask, resolved } = table();
    questions.restore(logged({ expires_at: new Date(0).toISOString() }));
    expect(await ask()).toMatchObject({ behavior: 'deny' });
    expect(resolved()).toEqual(['deny by timeout']);
  });

  it('that expired meanwhile takes no answer before its timer fires', async () => {
    const { questions, ask, resolved } = table();
    questions.restore(logged({ expires_at: new Date(0).toISOString() }));
    expect(questions.open).toEqual([]);
    const late = questions.answer('ask_1', { behavior: 'allow' }, 'ann');
    await expect(late).rejects.toMatchObject({ code: 'conflict', details: { behavior: 'deny', by: 'timeout' } });
    expect(await ask()).toMatchObject({
      behavior: 'deny',
      message: expect.stringContaining('Nobody answered') as string,
    });
    expect(resolved()).toEqual(['deny by timeout']);
  });

  it('is withdrawn when its call ends without asking', () => {
    const { questions, resolved } = table();
    questions.restore(logged());
    questions.withdrawQuestion('a', { behavior: 'allow', by: 'rule' }, 'A rule allows it now');
    expect([questions.open, resolved()]).toEqual([[], ['allow by rule']]);
  });

  it('stands on in the log when the session sleeps, without a timer', () => {
    vi.useFakeTimers();
    const { questions, resolved } = table();
    questions.restore(logged());
    questions.suspend();
    expect([questions.open, resolved(), vi.getTimerCount()]).toEqual([[], [], 0]);
  });
});
