/** What an end means, event by event: the failure policy as a table. */
import { describe, expect, it } from 'vitest';
import { answerOf } from '../../../src/hooks/hook-answer.ts';
import type { HookEvent } from '../../../src/hooks/hook-event.ts';
import type { HookEnd } from '../../../src/hooks/run-hook.ts';

function answer(event: HookEvent, end: Partial<HookEnd> & object, onFailure?: 'continue' | 'block') {
  const setting = { type: 'command', command: 'x', onFailure } as const;
  const whole = { kind: 'ended', exitCode: 0, stdout: '', stderr: '', ...end } as HookEnd;
  return answerOf(event, { key: 'hooks.E.0.hooks.0', setting, matches: () => true }, whole);
}
const specific = (fields: object) => ({ stdout: JSON.stringify({ hookSpecificOutput: fields }) });
const broken: HookEnd = { kind: 'broken', why: 'broke' };
const garbage = { stdout: '{"hookSpecificOutput":' };

describe('a hook that breaks', () => {
  it.each([
    ['PreToolUse', undefined, 'deny'],
    ['PreToolUse', 'block', 'deny'],
    ['PreToolUse', 'continue', undefined],
    ['PermissionRequest', undefined, undefined],
    ['PermissionRequest', 'block', 'deny'],
  ] as const)('of %s with onFailure %s: %s', (event, onFailure, behavior) => {
    for (const end of [broken, garbage]) {
      const { permission, warning } = answer(event, end, onFailure);
      expect(permission?.behavior).toBe(behavior);
      expect(warning).toContain('hooks.E.0.hooks.0');
    }
  });

  it.each(['PostToolUse', 'PostToolUseFailure'] as const)(
    'of %s withholds a result only where it is set to',
    (event) => {
      expect(answer(event, broken)).toEqual({ warning: 'Hook "hooks.E.0.hooks.0" broke' });
      expect(answer(event, broken, 'block').withheld).toContain('withheld');
    },
  );

  it.each(['PermissionDenied', 'SessionStart', 'SessionEnd'] as const)('of %s is only told of', (event) => {
    expect(Object.keys(answer(event, broken, 'block'))).toEqual(['warning']);
    expect(Object.keys(answer(event, { exitCode: 2, stderr: 'no' }))).toEqual(['warning']);
  });
});

describe('an exit code', () => {
  it('of 2 objects with what stands on standard error', () => {
    expect(answer('PreToolUse', { exitCode: 2, stderr: ' not so \n' })).toEqual({
      permission: { behavior: 'deny', reason: 'not so' },
    });
    expect(answer('PostToolUse', { exitCode: 2, stderr: 'not so' })).toEqual({ feedback: 'not so' });
    expect(answer('PreToolUse', { exitCode: 2 }).permission?.reason).toBe('Blocked by a PreToolUse hook');
  });

  it('of 1 warns and goes on, unless the setting blocks', () => {
    const said = { exitCode: 1, stderr: 'oops\nmore', stdout: '{"decision":"block"}' };
    expect(answer('PreToolUse', said)).toEqual({ warning: 'Hook "hooks.E.0.hooks.0" ended with exit code 1: oops' });
    expect(answer('PreToolUse', said, 'block').permission?.behavior).toBe('deny');
  });
});

describe('JSON of the contract', () => {
  it.each(['allow', 'deny', 'ask'] as const)('decides %s', (permissionDecision) => {
    const said = specific({ hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason: 'why' });
    expect(answer('PreToolUse', said)).toEqual({ permission: { behavior: permissionDecision, reason: 'why' } });
  });

  it('says nothing with defer, plain text, an empty text or an unknown field', () => {
    for (const said of [
      specific({ permissionDecision: 'defer' }),
      { stdout: 'all fine' },
      {},
      { stdout: '{"async":true}' },
    ]) {
      expect(answer('PreToolUse', said)).toEqual({});
    }
  });

  it('counts behind lines of plain text, and is garbage there as anywhere', () => {
    const no = 'loading rules\n{"decision":"block",\n"reason":"no"}\n';
    expect(answer('PreToolUse', { stdout: no }).permission).toEqual({ behavior: 'deny', reason: 'no' });
    expect(answer('PreToolUse', { stdout: 'loading rules\n{"decision":' }).permission?.behavior).toBe('deny');
    expect(answer('PreToolUse', { stdout: 'the input was {"a":' })).toEqual({});
  });

  it('is not needed for what a session starts with', () => {
    expect(answer('SessionStart', { stdout: 'on call: Ada\n' })).toEqual({ additionalContext: 'on call: Ada' });
    expect(answer('SessionStart', {})).toEqual({});
  });

  it('knows the older words of PreToolUse', () => {
    expect(answer('PreToolUse', { stdout: '{"decision":"block","reason":"no"}' }).permission).toEqual({
      behavior: 'deny',
      reason: 'no',
    });
    expect(answer('PreToolUse', { stdout: '{"decision":"approve"}' }).permission).toEqual({ behavior: 'allow' });
  });

  it('adds a reason after the fact, ends a turn, tells people', () => {
    expect(answer('PostToolUse', { stdout: '{"decision":"block","reason":"lint"}' })).toEqual({ feedback: 'lint' });
    expect(answer('PostToolUse', { stdout: '{"continue":false,"stopReason":"enough"}' })).toEqual({
      stopReason: 'enough',
    });
    expect(answer('PostToolUse', { stdout: '{"systemMessage":"hi","suppressOutput":true}' })).toEqual({
      systemMessage: 'hi',
    });
  });

  it('answers a question', () => {
    const said = specific({ decision: { behavior: 'deny', message: 'no', interrupt: true } });
    expect(answer('PermissionRequest', said)).toEqual({
      permission: { behavior: 'deny', reason: 'no' },
      stopReason: 'no',
    });
  });

  it.each([
    ['a word that is none', '{"hookSpecificOutput":{"permissionDecision":"maybe"}}'],
    ['an input that is no object', '{"hookSpecificOutput":{"updatedInput":["a"]}}'],
    ['another event', '{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"allow"}}'],
    ['a list', '[]'],
    ['too deep', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
    ['10,000 deep', `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
    ['a key that reaches a prototype', '{"hookSpecificOutput":{"updatedInput":{"__proto__":{"polluted":true}}}}'],
    ['a constructor', '{"constructor":{"prototype":{"polluted":true}}}'],
    ['two values', '{} {}'],
  ])('that holds %s is garbage, and a guard says no', (_what, stdout) => {
    expect(answer('PreToolUse', { stdout }).permission?.behavior).toBe('deny');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
