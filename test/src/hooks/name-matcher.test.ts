/** Matchers as existing settings write them. */
import { describe, expect, it } from 'vitest';
import { nameMatcher } from '../../../src/hooks/name-matcher.ts';

describe('a matcher', () => {
  it.each([
    [undefined, 'Anything', true],
    ['', 'Anything', true],
    ['*', 'Anything', true],
    ['Bash', 'Bash', true],
    ['Bash', 'BashOutput', false],
    ['bash', 'Bash', false],
    ['Edit|Write', 'Write', true],
    ['Edit | Write', 'Write', true],
    ['Edit|Write', 'NotebookEdit', false],
    ['Notebook.*', 'NotebookEdit', true],
    ['.*', 'Anything', true],
    ['.*Edit', 'NotebookEdit', true],
    ['Edit.*', 'NotebookEdit', true],
    ['^Edit', 'NotebookEdit', false],
    ['^Edit$|^Write$', 'Write', true],
    ['^(Edit|Write)$', 'Write', true],
    ['^(Edit|Write)$', 'MultiWrite', false],
    ['mcp__memory__.*', 'mcp__memory__create', true],
    ['mcp__memory__.*', 'mcp__other__create', false],
    ['mcp__.*__write.*', 'mcp__files__write_file', true],
    ['mcp__(a|b)__.+', 'mcp__b__x', true],
    ['mcp__(a|b)__.+', 'mcp__b__', false],
    ['mcp__server__*', 'mcp__server__tool', true],
    ['B.sh$', 'Bash', true],
  ])('%s and %s: %s', (matcher, name, isMeant) => {
    expect(nameMatcher(matcher)([name])).toBe(isMeant);
  });

  it('knows a thing by any of its names', () => {
    expect(nameMatcher('Task')(['Agent', 'Task'])).toBe(true);
  });

  it.each(['(a', 'a)', '[A-Z]+', '(a+)+$', 'a{3}', '\\w+', 'a|^b|(^c)', '?', '(a|b)'.repeat(20)])(
    'refuses %s',
    (matcher) => {
      const text = JSON.stringify(matcher);
      expect(() => nameMatcher(matcher)).toThrow(text);
      expect(() => nameMatcher(matcher)).toThrow('Expected');
    },
  );

  it('takes no time over a name made to be hard', () => {
    const matches = nameMatcher(`${'.*a'.repeat(20)}$`);
    const startMs = performance.now();
    expect(matches([`${'a'.repeat(10_000)}b`])).toBe(false);
    expect(performance.now() - startMs).toBeLessThan(200);
  });
});
