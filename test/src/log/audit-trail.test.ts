import { expect, test } from 'vitest';
import type { NewFrame } from '../../../src/wire/frames.ts';
import { AuditTrail } from '../../../src/log/audit-trail.ts';
import { observedLog } from '../../../src/log/observed-log.ts';
import { MemoryLog } from '../../helpers/memory-log.ts';

const display = { title: '', blocks: [] };

function trailOf(maxSessions?: number) {
  const lines: Record<string, unknown>[] = [];
  const file = {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    close: () => undefined,
  };
  const parts = { file, maxSessions, principalOf: () => 'of the log' };
  return { trail: new AuditTrail(parts), lines };
}

const opened: NewFrame = {
  type: 'opened',
  session_id: 'ses_a',
  principal: 'ann',
  created_at: '',
  cwd: '/w',
  tool_mode: 'normal',
  mode: 'default',
};
const begun = (id: string): NewFrame => ({
  type: 'tool_use',
  turn_id: 't',
  index: 0,
  tool_use: { type: 'tool_use', id, name: 'Bash', input: { command: 'cat secret', list: [1, true, null] } },
  display,
});
const ended = (id: string, more: object = {}): NewFrame => ({
  type: 'result',
  turn_id: 't',
  index: 0,
  tool_use_id: id,
  tool_result: { type: 'tool_result', tool_use_id: id, content: 'the secret' },
  call: { tool_use_id: id, name: 'Bash', status: 'ok', duration_ms: 5, result_chars: 10 },
  display,
  ...more,
});

test('a call that ended is one line: who, why, how long and how large, and nothing of what it was', () => {
  const { trail, lines } = trailOf();
  const reason = { type: 'rule', rule: 'Bash(cat:*)', source: 'session' } as const;
  trail.recordFrames('ses_a', [opened, begun('a'), ended('a', { decision: { behavior: 'allow', reason } })]);
  expect(lines[1]).toEqual({
    ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    principal: 'ann',
    session_id: 'ses_a',
    event: 'call',
    turn_id: 't',
    tool_use_id: 'a',
    tool: 'Bash',
    decision: { behavior: 'allow', reason },
    status: 'ok',
    duration_ms: 5,
    input_chars: 'commandcat secretlist1truenull'.length,
    result_chars: 10,
  });
  expect(JSON.stringify(lines)).not.toContain('secret');
});

test('whoever answered stands in the line of the answer and in that of the call', () => {
  const { trail, lines } = trailOf();
  const resolved = { type: 'permission_resolved', request_id: 'ask_1', tool_use_id: 'a', behavior: 'allow' } as const;
  trail.recordFrames('ses_a', [opened, begun('a'), { ...resolved, by: 'bob', reason: 'my words' }, ended('a')]);
  expect(lines.slice(1)).toMatchObject([
    { event: 'answer', request_id: 'ask_1', behavior: 'allow', by: 'bob' },
    { event: 'call', answered_by: 'bob' },
  ]);
  expect(JSON.stringify(lines)).not.toContain('my words');
});

test('a context is told when the permissions changed, and long lists of rules are counted', () => {
  const { trail, lines } = trailOf();
  const context = (version: number, allow: readonly string[]): NewFrame => ({
    type: 'context',
    version,
    cwd: '/w',
    permission_context: {
      version,
      mode: 'plan',
      rules: { userSettings: { allow: ['Not(own)'], ask: [], deny: [] }, session: { allow, ask: [], deny: [] } },
      additional_directories: ['/d'],
      is_bypass_available: true,
      avoid_prompts: false,
    },
  });
  trail.recordFrames('ses_a', [
    opened,
    context(1, []),
    context(2, ['A', 'B']),
    context(2, ['A', 'B']),
    context(3, Array<string>(101).fill('C')),
  ]);
  expect(lines.slice(1)).toMatchObject([
    { event: 'permissions', version: 2, mode: 'plan', rules: { allow: ['A', 'B'] }, additional_directories: ['/d'] },
    { event: 'permissions', version: 3, rules: { allow: 101 } },
  ]);
  expect(JSON.stringify(lines)).not.toContain('Not(own)');
});

test('a session that is forgotten or unknown is still told of, without the size of its input', () => {
  const { trail, lines } = trailOf(1);
  trail.recordFrames('ses_a', [opened, begun('a')]);
  trail.recordFrames('ses_b', [ended('b')]);
  trail.recordFrames('ses_a', [ended('a')]);
  expect(lines.slice(1)).toMatchObject([{ principal: 'of the log', session_id: 'ses_b' }, { session_id: 'ses_a' }]);
  expect(lines[2]).not.toHaveProperty('input_chars');
});

test('only what landed is told, and a removal with its principal', async () => {
  const { trail, lines } = trailOf();
  const log = observedLog(new MemoryLog(), [trail]);
  await log.append('ses_a', 0, [opened]);
  await expect(log.append('ses_a', 7, [begun('a'), ended('a')])).rejects.toThrow();
  await log.remove('ses_a');
  expect(lines).toMatchObject([{ event: 'session_created' }, { event: 'session_removed', principal: 'ann' }]);
});
