/** Rules that never decide anything are found; those that do are left alone. */
import { describe, expect, test } from 'vitest';
import type { RuleSet } from '../../../src/wire/permission-context.ts';
import { createPermissionContext } from '../../../src/permissions/context.ts';
import { deadRules } from '../../../src/permissions/dead-rules.ts';

const NAMES = ['Bash', 'Read', 'FileRead', 'Edit', 'WebFetch', 'mcp__git', 'mcp__git__log'];

function dead(rules: Partial<RuleSet>, policy: Partial<RuleSet> = {}) {
  const context = createPermissionContext({
    mode: 'default',
    rules: { policySettings: policy, userSettings: rules },
    isBypassAvailable: true,
  });
  return deadRules(context, NAMES);
}
const named = (...question: Parameters<typeof dead>) =>
  dead(...question).map(({ behavior, rule }) => `${behavior} ${rule}`);

describe('a rule is dead', () => {
  test('when no tool, alias or server has its name', () => {
    expect(
      dead({ deny: ['bash', 'Raed(.env)'], allow: ['FileRead(x)', 'mcp__git__push', 'mcp__gti', 'mcp'] }),
    ).toMatchObject([
      { rule: 'bash', source: 'userSettings', why: 'there is no tool "bash"; "Bash" is one' },
      { rule: 'Raed(.env)', why: 'there is no tool "Raed"' },
      { rule: 'mcp__gti', why: 'no MCP server and no tool is called "mcp__gti"' },
    ]);
  });

  test('when a bare rule that is as strong or stronger comes first', () => {
    expect(named({ allow: ['Bash', 'Bash(ls:*)'], ask: ['WebFetch'], deny: ['Edit'] })).toEqual(['allow Bash(ls:*)']);
    expect(named({ allow: ['WebFetch(domain:a)', 'Edit(src/**)'], ask: ['WebFetch', 'Edit'], deny: ['Edit'] })).toEqual(
      ['ask Edit', 'allow WebFetch(domain:a)', 'allow Edit(src/**)'],
    );
  });

  test('when a stronger rule stands under another name of the tool', () => {
    expect(named({ allow: ['FileRead(src/**)'], deny: ['Read(src/**)'] })).toEqual(['allow FileRead(src/**)']);
  });

  test('when a broader prefix, pattern or folder takes all its calls', () => {
    expect(named({ allow: ['Bash(git:*)', 'Bash(git status)', 'Bash(git log:*)', 'Bash(gitk:*)'] })).toEqual([
      'allow Bash(git status)',
      'allow Bash(git log:*)',
    ]);
    expect(named({ deny: ['Bash(npm *)'], allow: ['Bash(npm run build)', 'Bash(npm test:*)', 'Bash(npx x)'] })).toEqual(
      ['allow Bash(npm run build)', 'allow Bash(npm test:*)'],
    );
    expect(
      named({ deny: ['Read(./secrets/**)'], allow: ['Read(secrets/a.txt)', 'Read(secrets.txt)', 'Read(//secrets/a)'] }),
    ).toEqual(['allow Read(secrets/a.txt)']);
  });

  test('when its policy or another source forbids the same', () => {
    expect(dead({ allow: ['Bash(rm:*)'] }, { deny: ['Bash(rm:*)'] })).toMatchObject([
      { source: 'userSettings', why: 'deny rule "Bash(rm:*)" of policySettings comes first' },
    ]);
  });

  test('when its spec can match nothing', () => {
    expect(
      named({ deny: ['Read(../x)', 'Edit(a/../../b)'], allow: ['Bash(cd x && ls:*)', 'Bash(cd x && ls)'] }),
    ).toEqual(['deny Read(../x)', 'deny Edit(a/../../b)', 'allow Bash(cd x && ls:*)']);
  });
});

test('weaker rules beside stronger narrow ones, and the same rule twice, live', () => {
  expect(
    named(
      { allow: ['Bash(git:*)', 'Read'], ask: ['Bash(git push:*)'], deny: ['Bash(git push --force:*)', 'Read(.env)'] },
      { deny: ['Read(.env)'] },
    ),
  ).toEqual([]);
});

test('thirty thousand rules are looked through before the test runs out of time', () => {
  // Each compared with each other would take minutes.
  const allow = Array.from({ length: 30_000 }, (_, at) => `Bash(tool${at} *)`);
  expect(named({ allow })).toEqual([]);
}, 20_000);
