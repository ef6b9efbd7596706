/** The console's picture of a session, from its frames alone. */
import { describe, expect, it } from 'vitest';
import { toneOf } from '../../web/src/model/call.ts';
import { SessionModel } from '../../web/src/model/session-model.ts';
import { block, frameMaker, output, question, result } from './frames.ts';

describe('the model of a session', () => {
  it('follows a call from its block to its result', () => {
    const frame = frameMaker();
    const model = new SessionModel();
    model.apply(frame(block('a')));
    const call = model.calls.get('a');
    expect(call?.phase).toBe('queued');
    model.apply(frame({ type: 'state', tool_use_id: 'a', state: 'executing' }, 10));
    model.apply(frame({ type: 'started', tool_use_id: 'a' }, 20));
    model.apply(frame(output('a', 'one\n'), 30));
    model.apply(frame(output('a', 'two\n', 2), 40));
    expect(call?.output.text).toBe('one\ntwo\n');
    expect(model.runningCalls).toEqual([call]);
    model.apply(frame(result('a'), 50));
    model.apply(frame({ type: 'turn_end', turn_id: 't1', calls: [] }, 60));
    expect(call && toneOf(call)).toBe('ok');
    expect(call?.output.text).toBe('');
    expect(model.runningCalls).toEqual([]);
  });

  it('takes each frame once, however often a resumed connection repeats it', () => {
    const frame = frameMaker();
    const frames = [frame(block('a')), frame(output('a', 'x')), frame(output('a', 'y', 2))];
    const model = new SessionModel();
    for (const each of [...frames, ...frames.slice(1)]) model.apply(each);
    expect(model.calls.get('a')?.output.text).toBe('xy');
    expect(model.rows).toHaveLength(2);
    expect(model.apply(frames[0] as never)).toBe(false);
  });

  it('shows a block that still streams in, then the whole one in its place', () => {
    const frame = frameMaker();
    const model = new SessionModel();
    const display = { title: 'Write', blocks: [] };
    const partial = { turn_id: 't1', index: 0, tool_use_id: 'a', name: 'Write', partial_input: { a: 1 }, display };
    model.apply(frame({ type: 'input_partial', ...partial }));
    expect(model.calls.get('a')).toMatchObject({ phase: 'streaming', input: { a: 1 } });
    model.apply(frame(block('a')));
    model.apply(frame({ type: 'input_partial', ...partial }));
    expect(model.calls.get('a')).toMatchObject({ phase: 'queued', input: { command: 'ls' } });
    expect(model.rows).toHaveLength(2);
  });

  it('nests inner calls under the call that made them, and counts their changes as its own', () => {
    const frame = frameMaker();
    const model = new SessionModel();
    model.apply(frame(block('outer')));
    model.apply(frame(block('inner', { parent_tool_use_id: 'outer' })));
    const outer = model.calls.get('outer');
    const before = outer?.version ?? 0;
    model.apply(frame(result('inner', 'ok', { parent_tool_use_id: 'outer' })));
    expect(outer?.inner.map(({ id }) => id)).toEqual(['inner']);
    expect(outer?.version).toBeGreaterThan(before);
    expect(model.rows).toHaveLength(2);
  });

  it('feeds the frames of an agent into a thread of its own', () => {
    const frame = frameMaker();
    const child = frameMaker();
    const model = new SessionModel();
    model.apply(frame(block('a')));
    const agent = (data: object) =>
      model.apply(
        frame({ type: 'progress', tool_use_id: 'a', n: 1, data: { type: 'agent', session_id: 's', ...data } }),
      );
    agent({ frame: child(block('x')) });
    agent({ frame: { ...child(result('x')), is_cut: true } });
    agent({ type: 'agent_text', text: 'I looked.' });
    const [thread] = model.calls.get('a')?.agents ?? [];
    expect(thread?.thread.rows.map(({ kind }) => kind)).toEqual(['turn', 'calls']);
    expect(thread?.words.text).toBe('I looked.\n');
  });

  it('opens a question and closes it, whoever answered', () => {
    const frame = frameMaker();
    const model = new SessionModel();
    model.apply(frame(block('a')));
    model.apply(frame(question('a', 'q'), 10));
    const call = model.calls.get('a');
    expect(call && toneOf(call)).toBe('waiting');
    expect([...model.questions.keys()]).toEqual(['q']);
    const resolved = { request_id: 'q', tool_use_id: 'a', behavior: 'deny', by: 'timeout', reason: 'nobody answered' };
    model.apply(frame({ type: 'permission_resolved', ...resolved }, 30));
    expect(model.questions.size).toBe(0);
    expect(call?.resolution).toMatchObject({ behavior: 'deny', by: 'timeout' });
    expect(call?.asked).toEqual([{ fromMs: expect.any(Number) as number, toMs: expect.any(Number) as number }]);
  });

  it('puts a question of a child session on the call that opened the child', () => {
    const frame = frameMaker();
    const model = new SessionModel();
    model.apply(frame(block('a')));
    model.apply(frame({ ...question('unknown', 'q'), session_id: 's', parent_tool_use_id: 'a' }));
    expect(model.calls.get('a')?.requestId).toBe('q');
  });

  it('joins neighbours of one group into one row, not across turns', () => {
    const frame = frameMaker();
    const model = new SessionModel();
    const display = { title: 'Read', blocks: [], group: { key: 'read', title: 'Read files' } };
    for (const id of ['a', 'b']) model.apply(frame(block(id, { display })));
    model.apply(frame(block('c', { display, turn_id: 't2' })));
    const groups = model.rows.flatMap((row) => (row.kind === 'calls' ? [row.calls.map(({ id }) => id)] : []));
    expect(groups).toEqual([['a', 'b'], ['c']]);
  });

  it('spreads a long group over rows, of which a view draws only those in sight', () => {
    const frame = frameMaker();
    const model = new SessionModel();
    const display = { title: 'Read', blocks: [], group: { key: 'read', title: 'Read files' } };
    for (let each = 0; each < 250; each++) model.apply(frame(block(`call-${each}`, { display })));
    const lengths = model.rows.flatMap((row) => (row.kind === 'calls' ? [row.calls.length] : []));
    expect(Math.max(...lengths)).toBeLessThanOrEqual(20);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(250);
  });

  it('shows a result whose block is no longer kept, and drops what else is about such a call', () => {
    const frame = frameMaker(100);
    const model = new SessionModel();
    model.apply(frame({ type: 'started', tool_use_id: 'gone' }));
    model.apply(frame(result('old', 'error')));
    expect([...model.calls.keys()]).toEqual(['old']);
  });

  it('follows background tasks to their end', () => {
    const frame = frameMaker();
    const model = new SessionModel();
    model.apply(frame(block('a')));
    const started = { task_id: 'k', tool_use_id: 'a', kind: 'bash', description: 'npm run dev' };
    model.apply(frame({ type: 'task_started', ...started }, 5));
    model.apply(frame({ type: 'task_output', task_id: 'k', n: 1, text: 'listening' }));
    model.apply(frame({ type: 'task_ended', task_id: 'k', status: 'failed', exit_code: 3 }, 9));
    expect(model.tasks.get('k')).toMatchObject({ state: 'failed', exitCode: 3 });
    expect(model.tasks.get('k')?.output.text).toBe('listening');
    expect(model.calls.get('a')?.taskIds).toEqual(['k']);
  });

  it('takes 60,000 frames of 10,000 calls in well under a second', () => {
    const frame = frameMaker();
    const frames = Array.from({ length: 10_000 }, (_, index) => {
      const id = `c${index}`;
      const turn = { turn_id: `t${index >> 3}` };
      return [
        frame(block(id, turn)),
        frame({ type: 'state', tool_use_id: id, state: 'executing' }),
        frame({ type: 'started', tool_use_id: id }),
        frame(output(id, 'x\n')),
        frame({ type: 'state', tool_use_id: id, state: 'completed' }),
        frame(result(id, 'ok', turn)),
      ];
    }).flat();
    const model = new SessionModel();
    const startMs = performance.now();
    for (const each of frames) model.apply(each);
    // Several times what it takes, since the machine has other work.
    expect(performance.now() - startMs).toBeLessThan(2_000);
    expect(model.calls.size).toBe(10_000);
  });
});
