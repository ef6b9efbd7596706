/** What a crash left behind gets its one end, and questions stand again. */
import { describe, expect, it } from 'vitest';
import type { Frame, NewFrame } from '../../../../src/wire/frames.ts';
import { planRecovery } from '../../../../src/session/restore/recover.ts';
import { LogReplay } from '../../../../src/session/restore/replay-log.ts';
import { openedFrame } from '../../../helpers/new-frames.ts';

const accepted = (id: string, turn_id = 't', index = 0): NewFrame => ({
  type: 'tool_use',
  turn_id,
  index,
  tool_use: { type: 'tool_use', id, name: 'Bash', input: {} },
  display: { title: id, blocks: [] },
});
const executing = (tool_use_id: string): NewFrame => ({ type: 'state', tool_use_id, state: 'executing' });
const started = (tool_use_id: string): NewFrame => ({ type: 'started', tool_use_id });
const asked = (tool_use_id: string): NewFrame => ({
  type: 'permission_request',
  request_id: `ask_${tool_use_id}`,
  tool_use_id,
  tool_name: 'Bash',
  input: {},
  title: 'May it?',
  display: { title: '', blocks: [] },
  reason: { type: 'default' },
  destructive: false,
  warnings: [],
  suggestions: [],
  expires_at: new Date().toISOString(),
});
const resolved = (id: string): NewFrame => ({
  type: 'permission_resolved',
  request_id: `ask_${id}`,
  tool_use_id: id,
  behavior: 'allow',
  by: 'ann',
  reason: '',
});
const result = (id: string, turn_id = 't'): NewFrame => ({
  type: 'result',
  turn_id,
  index: 0,
  tool_use_id: id,
  tool_result: { type: 'tool_result', tool_use_id: id, content: 'ok' },
  call: { tool_use_id: id, name: 'Bash', status: 'ok', duration_ms: 1, result_chars: 2 },
  display: { title: '', blocks: [] },
});
const ended = (turn_id = 't'): NewFrame => ({ type: 'turn_end', turn_id, calls: [] });

const taskStarted = (task_id: string): NewFrame => ({
  type: 'task_started',
  task_id,
  tool_use_id: 'a',
  kind: 'bash',
  description: task_id,
});
const taskEnded = (task_id: string): NewFrame => ({ type: 'task_ended', task_id, status: 'completed' });

function historyOf(...frames: readonly NewFrame[]) {
  const replay = new LogReplay();
  const numbered = [openedFrame('s'), ...frames].map((frame, place) => ({ ...frame, seq: place + 1, ts: '' }) as Frame);
  for (const frame of numbered) replay.push(frame);
  const history = replay.history(numbered.length);
  if (!history) throw new Error('No first frame');
  return history;
}

function idOf(frame: NewFrame): unknown {
  if ('task_id' in frame) return frame.task_id;
  return 'tool_use_id' in frame ? frame.tool_use_id : 'turn_id' in frame ? frame.turn_id : '';
}

/** What must be appended, as `type id`, and which turns survive. */
function plan(...frames: readonly NewFrame[]) {
  const recovery = planRecovery(historyOf(...frames));
  const words = recovery.frames.map((frame) => [frame.type, idOf(frame)].join(' ').trim());
  return { frames: recovery.frames, words, surviving: [...recovery.surviving].map(({ id }) => id) };
}

describe('a log that a crash cut off', () => {
  it.each<[string, readonly NewFrame[], readonly string[], readonly string[]]>([
    ['with nothing in it', [], [], []],
    ['after a turn ended', [accepted('a'), started('a'), result('a'), ended()], [], []],
    ['before a turn ended', [accepted('a'), started('a'), result('a')], ['opened', 'turn_end t'], []],
    ['while a call ran', [accepted('a'), started('a')], ['opened', 'result a', 'turn_end t'], []],
    ['before a call reached its gate', [accepted('a')], ['opened', 'result a', 'turn_end t'], []],
    [
      'while one ran and one waited',
      [accepted('a'), accepted('b', 't', 1), started('a')],
      ['opened', 'result a', 'result b', 'turn_end t'],
      [],
    ],
    [
      'after one of two results',
      [accepted('a'), accepted('b', 't', 1), started('a'), started('b'), result('a')],
      ['opened', 'result b', 'turn_end t'],
      [],
    ],
    [
      'while a background task ran beside one that had ended',
      [taskStarted('one'), taskStarted('two'), taskEnded('one')],
      ['opened', 'task_ended two'],
      [],
    ],
    ['when its background tasks had ended', [taskStarted('one'), taskEnded('one'), taskEnded('forgotten')], [], []],
    ['while a question was open', [accepted('a'), executing('a'), asked('a')], [], ['t']],
    [
      'while a question was open and more waited',
      [accepted('a'), accepted('b', 't', 1), asked('a'), accepted('c', 'u')],
      [],
      ['t', 'u'],
    ],
    [
      'while a question was open beside a call that ran',
      [accepted('a'), accepted('b', 't', 1), asked('a'), started('b')],
      ['opened', 'permission_resolved a', 'result a', 'result b', 'turn_end t'],
      [],
    ],
    [
      'after a question was answered',
      [accepted('a'), asked('a'), resolved('a')],
      ['opened', 'result a', 'turn_end t'],
      [],
    ],
    [
      'with a turn running before one that asks',
      [accepted('a'), started('a'), accepted('b', 'u'), asked('b')],
      ['opened', 'result a', 'turn_end t'],
      ['u'],
    ],
    [
      'with a call without a question before one that asks',
      [accepted('a'), accepted('b', 'u'), asked('b')],
      ['opened', 'result a', 'turn_end t'],
      ['u'],
    ],
  ])('%s is put in order', (_when, frames, words, surviving) => {
    const planned = plan(...frames);
    expect(planned.words).toEqual(words);
    expect(planned.surviving).toEqual(surviving);
  });

  it('is in order once the plan was carried out, however often it is read', () => {
    const frames = [accepted('a'), accepted('b', 't', 1), started('a'), asked('b')];
    expect(plan(...frames, ...plan(...frames).frames).words).toEqual([]);
  });

  it('says of an interrupted call that nobody knows what it did', () => {
    const [, first] = plan(accepted('a'), started('a')).frames;
    expect(first).toMatchObject({
      tool_result: { is_error: true, content: expect.stringContaining('not known') as string },
      call: { status: 'interrupted', error_code: 'interrupted' },
    });
  });

  it('names the calls of the turn in its end, in block order', () => {
    const end = plan(accepted('a'), accepted('b', 't', 1), started('b'), result('a')).frames.at(-1);
    expect(end).toMatchObject({
      calls: [
        { tool_use_id: 'a', status: 'ok' },
        { tool_use_id: 'b', status: 'interrupted' },
      ],
    });
  });
});

describe('a replayed log', () => {
  it('remembers the last context, the last tool state and who settled what', () => {
    const context = (version: number, tool_state?: Record<string, boolean>): NewFrame => ({
      type: 'context',
      version,
      permission_context: {
        version,
        mode: 'default',
        rules: {},
        additional_directories: [],
        is_bypass_available: true,
        avoid_prompts: false,
      } as never,
      cwd: '/',
      ...(tool_state ? { tool_state } : {}),
    });
    const history = historyOf(context(2, { todo: true }), context(3), accepted('a'), asked('a'), resolved('a'));
    expect([history.context?.version, history.toolState]).toEqual([3, { todo: true }]);
    expect(history.settled.get('ask_a')).toEqual({ behavior: 'allow', by: 'ann' });
  });

  it('is none without a first frame', () => {
    expect(new LogReplay().history(0)).toBeUndefined();
  });

  it('counts what the results of a turn have used of its room', () => {
    expect(historyOf(accepted('a'), accepted('b', 't', 1), result('a'), result('b')).turns.get('t')?.spentChars).toBe(
      4,
    );
  });
});
