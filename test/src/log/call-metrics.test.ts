import { describe, expect, test } from 'vitest';
import { Counter } from '../../../src/base/instruments.ts';
import { CallMetrics } from '../../../src/log/call-metrics.ts';
import type { NewFrame, ResultFrame } from '../../../src/wire/frames.ts';

const OPENED = { session_id: 's1', turn_id: 't1', index: 0 };

function result(id: string, name: string, call: Partial<ResultFrame['call']> = {}): NewFrame {
  return {
    ...OPENED,
    type: 'result',
    tool_use_id: id,
    tool_result: { type: 'tool_result', tool_use_id: id, content: 'x' },
    call: { tool_use_id: id, name, status: 'ok', duration_ms: 20, result_chars: 1, ...call },
    decision: { behavior: 'allow', reason: { type: 'read_only' } },
    display: { title: 'x', blocks: [] },
  };
}

function use(id: string): NewFrame {
  const tool_use = { type: 'tool_use', id, name: 'Read', input: {} } as const;
  return { ...OPENED, type: 'tool_use', tool_use, display: { title: 'x', blocks: [] } };
}

function measured() {
  let nowMs = 0;
  const origins: Readonly<Record<string, string>> = { Read: 'built_in', mcp__a__b: 'mcp', mcp__c__d: 'mcp' };
  const metrics = new CallMetrics({ originOf: (name) => origins[name] ?? 'unknown', nowMs: () => nowMs });
  return { metrics, after: (ms: number) => void (nowMs += ms) };
}

describe('the metrics of calls', () => {
  test('count each result by tool, origin and status, and its duration', () => {
    const { metrics } = measured();
    metrics.recordFrames('s1', [use('a'), result('a', 'Read')]);
    metrics.recordFrames('s1', [result('b', 'Read', { status: 'error', duration_ms: 70_000 })]);
    const text = metrics.text();
    expect(text).toContain('gauntlet_calls_total{tool="Read",origin="built_in",status="ok"} 1\n');
    expect(text).toContain('gauntlet_calls_total{tool="Read",origin="built_in",status="error"} 1\n');
    expect(text).toContain('gauntlet_call_duration_seconds_bucket{tool="Read",le="0.01"} 0\n');
    expect(text).toContain('gauntlet_call_duration_seconds_bucket{tool="Read",le="0.05"} 1\n');
    expect(text).toContain('gauntlet_call_duration_seconds_bucket{tool="Read",le="+Inf"} 2\n');
    expect(text).toContain('gauntlet_call_duration_seconds_sum{tool="Read"} 70.02\n');
    expect(text).toContain('gauntlet_decisions_total{behavior="allow",reason="read_only"} 2\n');
    expect(text).toContain('gauntlet_log_appends_total 2\n');
    expect(text).toContain('gauntlet_log_frames_total 3\n');
  });

  test('measure how long a call waited until it executed', () => {
    const { metrics, after } = measured();
    metrics.recordFrames('s1', [use('a')]);
    after(200);
    metrics.recordFrames('s1', [{ type: 'state', tool_use_id: 'a', state: 'executing' }]);
    expect(metrics.text()).toContain('gauntlet_call_wait_seconds_bucket{le="0.1"} 0\n');
    expect(metrics.text()).toContain('gauntlet_call_wait_seconds_bucket{le="0.5"} 1\n');
  });

  test('count names that a model invented together', () => {
    const { metrics } = measured();
    for (const name of ['Rad', 'Wirte']) metrics.recordFrames('s1', [result(name, name)]);
    expect(metrics.text()).toContain('gauntlet_calls_total{tool="unknown",origin="unknown",status="ok"} 2\n');
    expect(metrics.text()).not.toContain('Rad');
    for (const name of ['mcp__a__b', 'mcp__c__d'])
      metrics.recordFrames('s1', [result(name, name, { status: 'error', error_code: 'unknown_tool' })]);
    expect(metrics.text()).toContain('gauntlet_calls_total{tool="unknown",origin="unknown",status="error"} 2\n');
    expect(metrics.text()).not.toContain('mcp__a__b');
  });

  test('tell the age of the oldest question, until its session is removed', () => {
    const { metrics, after } = measured();
    const question = { request_id: 'q1', tool_use_id: 'a', tool_name: 'Bash', input: {}, title: 'Why' } as const;
    const drawn = { display: { title: 'x', blocks: [] }, reason: { type: 'default' }, destructive: false } as const;
    const more = { warnings: [], suggestions: [], expires_at: '2030-01-01T00:00:00.000Z' };
    metrics.recordFrames('s1', [{ type: 'permission_request', ...question, ...drawn, ...more }]);
    after(3_000);
    expect(metrics.oldestQuestionSeconds).toBe(3);
    metrics.recordRemoval('s1');
    expect(metrics.oldestQuestionSeconds).toBe(0);
  });
});

test('a counter with too many label values counts further ones together', () => {
  const counter = new Counter('x_total', 'x');
  for (let index = 0; index < 1_010; index++) counter.add({ name: `n${index}` });
  expect(counter.text()).toContain('x_total{name="other"} 10\n');
  expect(counter.text().split('\n')).toHaveLength(1_001 + 3);
});

test('label values are escaped', () => {
  const counter = new Counter('x_total', 'x');
  counter.add({ name: 'a"b\\c\nd' });
  expect(counter.text()).toContain('x_total{name="a\\"b\\\\c\\nd"} 1');
});
