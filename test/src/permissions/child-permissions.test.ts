/** What a child session may do: never more than its parent. */
import { describe, expect, it } from 'vitest';
import type { PermissionUpdate, RuleSet } from '../../../src/wire/permission-context.ts';
import { childPermissions, refuseWidening, updatesAfterParent } from '../../../src/permissions/child-permissions.ts';
import { applyUpdates, createPermissionContext } from '../../../src/permissions/context.ts';

type Mode = Parameters<typeof createPermissionContext>[0]['mode'];

const context = (mode: Mode, session: Partial<RuleSet> = {}, additionalDirectories: readonly string[] = []) =>
  createPermissionContext({ mode, rules: { session }, additionalDirectories, isBypassAvailable: true });

/** A child after its parent has changed by `updates`. */
function followed(child: ReturnType<typeof context>, parent: ReturnType<typeof context>, updates: PermissionUpdate[]) {
  const after = applyUpdates(parent, updates);
  return applyUpdates(child, updatesAfterParent(child, parent, after));
}

describe('a child that follows its parent', () => {
  it('is lowered with it, and not raised again', () => {
    const parent = context('acceptEdits');
    const child = childPermissions(parent, 'acceptEdits');
    const lowered = followed(child, parent, [{ type: 'setMode', mode: 'plan' }]);
    expect(lowered.mode).toBe('plan');
    expect(followed(lowered, context('plan'), [{ type: 'setMode', mode: 'bypassPermissions' }]).mode).toBe('plan');
  });

  it('is not raised again by itself, though it began higher', () => {
    const child = childPermissions(context('bypassPermissions'), 'bypassPermissions');
    const lowered = followed(child, context('bypassPermissions'), [{ type: 'setMode', mode: 'plan' }]);
    const raised = applyUpdates(lowered, [{ type: 'setMode', mode: 'bypassPermissions' }]);
    expect(() => refuseWidening(lowered, raised)).toThrow('mode "bypassPermissions" lets more through');
  });

  it('loses an allow rule wherever a tool of its own has put it', () => {
    const parent = context('default', { allow: ['Bash(ls)'] });
    const rules = { command: { allow: ['Bash(ls)'], ask: [], deny: [] } };
    const child = createPermissionContext({ mode: 'default', rules, isBypassAvailable: true });
    const after = followed(child, parent, [{ type: 'removeRules', behavior: 'allow', rules: ['Bash(ls)'] }]);
    expect(after.rules.command?.allow ?? []).toEqual([]);
  });

  it('gets and loses allow rules and directories, and keeps ask and deny rules', () => {
    const parent = context('default', { allow: ['Read', 'Bash(ls:*)'], deny: ['Edit'] }, ['/a']);
    const child = context('default', { allow: ['Read', 'Bash(ls:*)'], deny: ['Edit', 'Write'] }, ['/a']);
    const { rules, additionalDirectories } = followed(child, parent, [
      { type: 'replaceRules', behavior: 'allow', rules: ['Bash(ls:*)', 'Grep'] },
      { type: 'replaceRules', behavior: 'deny', rules: ['Bash(rm:*)'] },
      { type: 'addRules', behavior: 'ask', rules: ['Glob'] },
      { type: 'removeDirectories', directories: ['/a'] },
      { type: 'addDirectories', directories: ['/b'] },
    ]);
    expect(rules.session).toEqual({
      allow: ['Bash(ls:*)', 'Grep'],
      ask: ['Glob'],
      deny: ['Edit', 'Write', 'Bash(rm:*)'],
    });
    expect(additionalDirectories).toEqual(['/b']);
  });
});

it('a child has no mode beyond the one it began in, whatever the settings allow', () => {
  const child = childPermissions(context('default'), 'default');
  expect(child.isBypassAvailable).toBe(false);
  for (const mode of ['acceptEdits', 'auto', 'bypassPermissions'] as const)
    expect(() => applyUpdates(child, [{ type: 'setMode', mode }])).toThrow(/"default"/);
  expect(applyUpdates(child, [{ type: 'setMode', mode: 'plan' }]).mode).toBe('plan');
});

it.each([
  ['an allow rule more', { allow: ['Read', 'Bash'], ask: ['Edit'], deny: ['Write'] }],
  ['an ask rule less', { allow: ['Read'], ask: [], deny: ['Write'] }],
  ['a deny rule less', { allow: ['Read'], ask: ['Edit'], deny: [] }],
])('%s is refused', (_what, rules) => {
  const before = context('default', { allow: ['Read'], ask: ['Edit'], deny: ['Write'] });
  expect(() => refuseWidening(before, context('default', rules))).toThrow(
    expect.objectContaining({ code: 'forbidden' }),
  );
});

it('a directory more is refused, and less of everything is not', () => {
  const before = context('default', { allow: ['Read'], deny: ['Write'] }, ['/a']);
  expect(() =>
    refuseWidening(before, context('default', { allow: ['Read'], deny: ['Write'] }, ['/a', '/b'])),
  ).toThrow();
  expect(() => refuseWidening(before, context('plan', { ask: ['Bash'], deny: ['Write', 'Edit'] }))).not.toThrow();
});
