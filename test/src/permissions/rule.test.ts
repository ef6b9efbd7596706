import { describe, expect, test } from 'vitest';
import { parseRule, ruleKeys } from '../../../src/permissions/rule.ts';

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
    expect(ruleKeys({ name: 'mcp__my_server__get_1a2b3c4d', origin: { type: 'mcp', name: 'my server' } })).toContain(
      'mcp__my_server',
    );
  });

  test('no server whose name only begins alike', () => {
    expect(ruleKeys({ name: 'mcp__git__hub__get_12345678', origin: { type: 'mcp', name: 'git__hub' } })).not.toContain(
      'mcp__git',
    );
  });
});
