import { describe, expect, test } from 'vitest';
import type { PermissionUpdate, ToolPermissionContext } from '../../../src/wire/permission-context.ts';
import { applyUpdates, checkedContext, createPermissionContext } from '../../../src/permissions/context.ts';
import { MAX_ADDITIONAL_DIRECTORIES, MAX_PERMISSION_RULES } from '../../../src/wire/permission-names.ts';
import { MAX_RULE_CHARS, RuleSetSchema, UpdatesSchema } from '../../../src/wire/permission-schemas.ts';

const first = () =>
  createPermissionContext({
    mode: 'default',
    rules: { userSettings: { deny: ['Bash(rm:*)'] }, session: { allow: ['Read'] } },
    additionalDirectories: ['/srv/data/'],
    isBypassAvailable: true,
  });

const updated = (context: ToolPermissionContext, updates: readonly PermissionUpdate[]) =>
  applyUpdates(context, updates);

const rulesNumbering = (count: number) => Array.from({ length: count }, (_, index) => `Read(/srv/${index})`);

describe('a first context', () => {
  test('is version 1 and frozen to the bottom', () => {
    const context = first();
    expect(context).toMatchObject({
      version: 1,
      mode: 'default',
      additionalDirectories: ['/srv/data'],
      shouldAvoidPermissionPrompts: false,
    });
    expect(() => (context.rules.session?.allow as string[]).push('Bash')).toThrow(TypeError);
    expect(() => Object.assign(context, { mode: 'bypassPermissions' })).toThrow(TypeError);
    expect(() => Object.assign(context.rules, { session: undefined })).toThrow(TypeError);
    expect(Object.isFrozen(context.additionalDirectories)).toBe(true);
  });

  test('refuses a rule that does not parse, a relative directory and an unavailable mode', () => {
    const base = { mode: 'default' as const, isBypassAvailable: false };
    expect(() => createPermissionContext({ ...base, rules: { session: { allow: ['Bash('] } } })).toThrow(/"Bash\("/);
    expect(() => createPermissionContext({ ...base, additionalDirectories: ['x'] })).toThrow(/absolute/);
    expect(() => createPermissionContext({ ...base, mode: 'bypassPermissions' })).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    );
  });
});

describe('a rule that does not parse', () => {
  const refusal = (source: 'session' | 'userSettings') => () =>
    createPermissionContext({ mode: 'default', isBypassAvailable: true, rules: { [source]: { deny: ['A', 'B('] } } });
  const added = () => updated(first(), [{ type: 'addRules', behavior: 'allow', rules: ['Bash(!x)'] }]);

  test.each([
    [refusal('session'), '"rules.deny[1]": Cannot use rule "B(": Expected Tool'],
    [refusal('userSettings'), '"permissions.deny[1]" of userSettings: Cannot use rule "B("'],
    [added, '"updates[0].rules[0]": Cannot use rule "Bash(!x)": A spec cannot be negated'],
  ])('is refused with its place, its text and what was expected: %#', (make, message) => {
    expect(make).toThrow(expect.objectContaining({ message: expect.stringContaining(message) as string }));
  });
});

describe('updates', () => {
  test('of one request make one next version and leave the old one as it was', () => {
    const context = first();
    const next = updated(context, [
      { type: 'addRules', behavior: 'allow', rules: ['Bash(ls:*)', 'Read'] },
      { type: 'setMode', mode: 'plan' },
      { type: 'addDirectories', directories: ['/a', '/a/'] },
    ]);
    expect(next).toMatchObject({ version: 2, mode: 'plan', additionalDirectories: ['/srv/data', '/a'] });
    expect(next.rules.session?.allow).toEqual(['Read', 'Bash(ls:*)']);
    expect(context).toMatchObject({ version: 1, mode: 'default', additionalDirectories: ['/srv/data'] });
    expect(Object.isFrozen(next.rules.session?.allow)).toBe(true);
  });

  test('replace and remove rules and directories of the session', () => {
    const replaced = updated(first(), [{ type: 'replaceRules', behavior: 'allow', rules: ['Glob', 'Grep'] }]);
    const removed = updated(replaced, [
      { type: 'removeRules', behavior: 'allow', rules: ['Glob', 'Unknown'] },
      { type: 'removeDirectories', directories: ['/srv/data'] },
    ]);
    expect(removed.rules.session?.allow).toEqual(['Grep']);
    expect(removed.additionalDirectories).toEqual([]);
    expect(removed.version).toBe(3);
  });

  test('never take a rule of another source away', () => {
    const remove = () => updated(first(), [{ type: 'removeRules', behavior: 'deny', rules: ['Bash(rm:*)'] }]);
    expect(remove).toThrow(expect.objectContaining({ code: 'forbidden' }));
    const replaced = updated(first(), [{ type: 'replaceRules', behavior: 'deny', rules: [] }]);
    expect(replaced.rules.userSettings?.deny).toEqual(['Bash(rm:*)']);
  });

  test('one that fails leaves nothing behind of those before it', () => {
    const context = first();
    const update = () =>
      updated(context, [
        { type: 'setMode', mode: 'plan' },
        { type: 'addRules', behavior: 'deny', rules: ['('] },
      ]);
    expect(update).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    expect(context.mode).toBe('default');
  });

  test('cannot make a context hold more rules or directories than it may, request by request', () => {
    const add = (...rules: string[]) => ({ type: 'addRules', behavior: 'ask', rules }) as const;
    const rules = rulesNumbering(MAX_PERMISSION_RULES - 1);
    const full = updated(first(), [add(...rules)]);
    expect(() => updated(full, [add('Write')])).toThrow(/at most 10000/);
    expect(updated(full, [add('Read(/srv/0)')]).rules.session?.ask).toEqual(rules);
    const directories = Array.from({ length: MAX_ADDITIONAL_DIRECTORIES }, (_, index) => `/srv/${index}`);
    expect(() => updated(full, [{ type: 'addDirectories', directories }])).toThrow(/directories/);
  });

  test('cannot turn on bypassPermissions where it is not available', () => {
    const context = createPermissionContext({ mode: 'default', isBypassAvailable: false });
    expect(() => updated(context, [{ type: 'setMode', mode: 'bypassPermissions' }])).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    );
  });
});

describe('a context that a tool made', () => {
  const before = first();
  const made = (changes: Partial<ToolPermissionContext>) => checkedContext(before, { ...before, ...changes });
  const command = (...allow: string[]) => ({ rules: { ...before.rules, command: { allow, ask: [], deny: [] } } });

  test('is the next version, with the rules of its command, frozen', () => {
    const next = made(command(' Bash(make:*) '));
    expect(next).toMatchObject({ version: 2, rules: { ...before.rules, command: { allow: ['Bash(make:*)'] } } });
    expect([next, next.rules, next.rules.command, next.rules.command?.allow].every(Object.isFrozen)).toBe(true);
  });

  test('goes no further than its session may', () => {
    const next = made({ version: 9, maxMode: 'plan', isBypassAvailable: false });
    expect(next).toEqual({ ...before, version: 2 });
    const { userSettings, ...rest } = before.rules;
    for (const rules of [rest, { ...rest, userSettings: { ...userSettings, deny: [] } }]) {
      expect(() => made({ rules } as Partial<ToolPermissionContext>)).toThrow(/Cannot change rules of userSettings/);
    }
  });

  test('is refused with a rule that does not parse, too many rules, or a folder that is none', () => {
    expect(() => made(command('Bash('))).toThrow(/of command: Cannot use rule "Bash\("/);
    expect(() => made(command(...rulesNumbering(MAX_PERMISSION_RULES + 1)))).toThrow(/at most 10000/);
    expect(() => made({ additionalDirectories: ['src'] })).toThrow(/absolute/);
  });

  test('brings rules that a person can take back', () => {
    const remove = (rule: string) => ({ type: 'removeRules', behavior: 'allow', rules: [rule] }) as const;
    const next = updated(made(command('Bash(make:*)', 'Glob')), [remove('Glob')]);
    expect(next.rules.command?.allow).toEqual(['Bash(make:*)']);
    const again = [{ type: 'replaceRules', behavior: 'allow', rules: ['Grep'] }] as const;
    expect(applyUpdates(next, again, 'command').rules).toEqual({
      ...next.rules,
      command: { allow: ['Grep'], ask: [], deny: [] },
    });
  });
});

test('the wire shapes are strict and bounded', () => {
  const isTaken = (...updates: unknown[]) => UpdatesSchema.safeParse(updates).success;
  const adding = (rules: readonly string[]) => ({ type: 'addRules', behavior: 'allow', rules });
  expect(isTaken({ type: 'setMode', mode: 'yolo' })).toBe(false);
  expect(isTaken({ type: 'setMode', mode: 'plan', extra: 1 })).toBe(false);
  expect(isTaken(adding(rulesNumbering(MAX_PERMISSION_RULES)))).toBe(true);
  expect(isTaken(adding(rulesNumbering(MAX_PERMISSION_RULES + 1)))).toBe(false);
  expect(isTaken(adding(['a'.repeat(MAX_RULE_CHARS + 1)]))).toBe(false);
  expect(isTaken(...Array<unknown>(257).fill(adding(['a'])))).toBe(false);
  expect(RuleSetSchema.parse({ allow: ['Read'] })).toEqual({ allow: ['Read'], ask: [], deny: [] });
});
