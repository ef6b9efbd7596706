import { describe, expect, test } from 'vitest';
import { createPermissionContext } from '../../../src/permissions/context.ts';
import { matchesToolPattern, parseRule, ruleKeys } from '../../../src/permissions/rule.ts';
import { rulesFor } from '../../../src/permissions/rule-index.ts';

describe('a rule is parsed', () => {
  test.each([
    ['Bash', 'Bash', undefined],
    [' Bash ', 'Bash', undefined],
    ['Bash()', 'Bash', undefined],
    ['Bash(*)', 'Bash', undefined],
    ['Bash(git status:*)', 'Bash', 'git status:*'],
    ['Bash(echo (a))', 'Bash', 'echo (a)'],
    ['Read(./secrets/**)', 'Read', './secrets/**'],
    ['WebFetch(domain:*.example.com)', 'WebFetch', 'domain:*.example.com'],
    ['Agent(reviewer)', 'Agent', 'reviewer'],
    ['mcp__github', 'mcp__github', undefined],
    ['mcp__github__*', 'mcp__github', undefined],
    ['mcp__github__create_issue', 'mcp__github__create_issue', undefined],
    ['mcp__github__get_*', 'mcp__github__get_*', undefined],
    ['mcp__my.srv', 'mcp__my.srv', undefined],
    ['mcp__my srv__*', 'mcp__my srv', undefined],
  ])('%s', (text, toolName, spec) => {
    expect(parseRule(text)).toMatchObject({ toolName, ...(spec !== undefined && { spec }) });
    expect(parseRule(text).spec).toBe(spec);
  });

  test.each([
    '',
    ' ',
    'Bash(',
    'Bash)',
    '(ls)',
    'Bash ls',
    'Ba sh(ls)',
    '*',
    'Bash*',
    'mcp__*x',
    'mcp__a*',
    'Read(!x)',
    'Bash(:*)',
    'mcp__a__b(x)',
    '1Tool',
    'Bash(ls) x',
    'Tool(a))('.slice(0, 7) + '\u0000(',
  ])('refuses %j and names it', (text) => {
    expect(() => parseRule(text)).toThrow(/Cannot use rule/);
  });
});

describe('a tool is found under', () => {
  test('its name, its aliases and its server', () => {
    expect(ruleKeys({ name: 'Read', aliases: ['FileRead'] })).toEqual(['Read', 'FileRead']);
    expect(ruleKeys({ name: 'mcp__github__get', origin: { type: 'mcp', name: 'github' } })).toContain('mcp__github');
    const ofMyServer = ruleKeys({ name: 'mcp__my_server__get_1a2b3c4d', origin: { type: 'mcp', name: 'my server' } });
    expect(ofMyServer).toContain('mcp__my server');
    expect(ofMyServer).not.toContain('mcp__my_server');
    expect(ruleKeys({ name: 'mcp__git__hub__get_12345678', origin: { type: 'mcp', name: 'git__hub' } })).not.toContain(
      'mcp__git',
    );
  });
});

describe('a rule with "*"', () => {
  const tool = (server: string, name: string) => ({ name, origin: { type: 'mcp' as const, name: server } });

  test.each([
    [tool('e', 'mcp__e__get-sum'), true],
    [tool('e', 'mcp__e__set-sum'), false],
    [tool('e__get-x', 'mcp__e__get-x__y_1a2b3c4d'), false],
    [tool('e.', 'mcp__e___get-sum_1a2b3c4d'), false],
    [{ name: 'mcp__e__get-sum' }, false],
  ])('means the tools of its server alone: %j', (of, isMeant) => {
    expect(matchesToolPattern('mcp__e__get-*', of)).toBe(isMeant);
    const rules = { session: { allow: ['mcp__e__get-*'], ask: [], deny: [] } };
    const permissions = createPermissionContext({ mode: 'default', isBypassAvailable: false, rules });
    expect(rulesFor(permissions, 'allow', of).bare?.rule).toBe(isMeant ? 'mcp__e__get-*' : undefined);
  });
});
