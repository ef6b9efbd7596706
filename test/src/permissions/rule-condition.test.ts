/** The `if` of a hook: which calls a rule is about. */
import { ShellLine } from '../../../src/shell/shell-line.ts';
import { describe, expect, it } from 'vitest';
import { ruleCondition } from '../../../src/permissions/rule-condition.ts';
import type { Tool } from '../../../src/tool/tool.ts';
import { shellMatcher } from '../../../src/shell/matcher.ts';
import { invocationOf } from '../../helpers/invocation.ts';
import { mcpTool, plainTool } from '../../helpers/plain-tool.ts';
import { toolUseContextIn } from '../../helpers/tool-use-context.ts';

const shell = plainTool('Bash', { preparePermissionMatcher: ({ text }) => shellMatcher(new ShellLine(String(text))) });
const writer = plainTool('Writer', { paths: ({ text }) => [{ path: String(text), access: 'write' }] });

function isMeant(rule: string, tool: Tool, text: string): Promise<boolean> {
  return ruleCondition(rule)({
    invocation: invocationOf(tool, { text }),
    context: toolUseContextIn('/project'),
    locate: ({ path }) => Promise.resolve({ spelled: path, real: path, isInside: true, isSessionFile: false }),
  });
}

describe('a condition', () => {
  it.each([
    ['Bash', shell, 'ls', true],
    ['Bash(git *)', shell, 'git push', true],
    ['Bash(git *)', shell, 'ls', false],
    ['Bash(git *)', shell, 'ls && git push', true],
    ['Bash(git *)', shell, 'sudo git push', true],
    ['Bash(git *)', shell, "bash -c 'git push'", true],
    ['Bash(git *)', shell, '"unclosed', true],
    ['Bash(git *)', writer, '/project/a', false],
    ['Edit(src/**)', writer, '/project/src/a.ts', true],
    ['Edit(src/**)', writer, '/project/test/a.ts', false],
    ['FileEdit(src/**)', writer, '/project/src/a.ts', true],
    ['Edit', writer, '/elsewhere/a.ts', true],
    ['Edit', shell, '"unclosed', true],
    ['Read(src/**)', writer, '/project/src/a.ts', false],
    ['mcp__memory', mcpTool('memory', 'create'), '', true],
    ['mcp__memory__*', mcpTool('memory', 'create'), '', true],
    ['mcp__memory', mcpTool('files', 'create'), '', false],
    ['Plain(spec)', plainTool('Plain'), '', true],
  ])('%s and %o with %j: %s', async (rule, tool, text, expected) => {
    expect(await isMeant(rule, tool, text)).toBe(expected);
  });

  it('holds for what cannot be judged', async () => {
    const broken = plainTool('Bash', {
      preparePermissionMatcher: () => {
        throw new Error('a bug');
      },
    });
    expect(await isMeant('Bash(git *)', broken, '')).toBe(true);
  });

  it('is refused when it is no rule', () => {
    expect(() => ruleCondition('Bash(git')).toThrow('Expected Tool, Tool(spec)');
  });
});
