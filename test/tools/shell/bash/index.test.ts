/** What Bash says of a command before it runs. */
import { ShellLine } from '../../../../src/shell/shell-line.ts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DEFAULT_LIMITS } from '../../../../config/limits.ts';
import { fileServices } from '../../../helpers/file-services.ts';
import { toolUseContextIn } from '../../../helpers/tool-use-context.ts';
import { bashTool } from '../../../../tools/shell/bash/index.ts';
import { exitAnswer } from '../../../../tools/shell/bash/judge-end.ts';

describe('Bash', () => {
  const limits = DEFAULT_LIMITS;
  const processHost = {
    spawn: () => Promise.reject(new Error('Nothing runs here')) as never,
    close: () => Promise.resolve(),
  };
  const services = { ...fileServices(), processHost };
  const bash = bashTool(services);

  it('takes the inputs that models know, and no others', () => {
    const schema = z.toJSONSchema(bash.inputSchema, { io: 'input' });
    expect(Object.keys(schema.properties ?? {})).toEqual([
      'command',
      'timeout',
      'description',
      'run_in_background',
      'dangerouslyDisableSandbox',
    ]);
    expect(schema).toMatchObject({ required: ['command'], additionalProperties: false });
    expect(bash.inputSchema.safeParse({ command: 'ls', timeout: limits.commandMaxMs + 1 }).success).toBe(false);
  });

  it('runs beside others what only reads and stays where it is', () => {
    const judged = (command: string) => [bash.isReadOnly({ command }), bash.isConcurrencySafe({ command })];
    expect(judged('cat a | grep b')).toEqual([true, true]);
    expect(judged('cd sub && ls')).toEqual([true, false]);
    expect(judged('touch a')).toEqual([false, false]);
  });

  it('suggests the prefix of what it asks for', () => {
    expect(bash.suggestRules({ command: 'touch a' })).toEqual(['Bash(touch:*)']);
  });

  it.each([
    ['asks in every mode', false, { behavior: 'ask', isSafetyCheck: true }],
    ['is refused where it is required', true, { behavior: 'deny' }],
    ['asks where there is none, too', undefined, { behavior: 'ask', isSafetyCheck: true }],
  ])('leaving the sandbox %s', (_what, isRequired, answer) => {
    const within = () => Promise.reject(new Error('Nothing runs here'));
    const sandbox =
      isRequired === undefined
        ? undefined
        : {
            isRequired,
            network: 'off' as const,
            isAutoAllowed: true,
            hidden: () => [],
            within,
            close: () => undefined,
          };
    const boxed = bashTool({ ...services, sandbox });
    const context = toolUseContextIn('/');
    expect(boxed.checkPermissions({ command: 'ls', dangerouslyDisableSandbox: true }, context)).toMatchObject(answer);
    expect(boxed.checkPermissions({ command: 'ls' }, context)).toEqual({ behavior: 'allow' });
    expect(boxed.isContained({ command: 'ls' })).toBe(sandbox !== undefined);
    expect(boxed.isContained({ command: 'ls', dangerouslyDisableSandbox: true })).toBe(isRequired === true);
  });

  it('calls destructive what it warns of', () => {
    expect(bash.isDestructive({ command: 'rm -rf build' })).toBe(true);
    expect(bash.isDestructive({ command: 'ls' })).toBe(false);
  });

  it.each([
    ['npm install', 'cancel'],
    ['npm run dev', 'cancel'],
    ['tail -f log', 'cancel'],
    ['docker compose up', 'cancel'],
    ['python3 -m http.server', 'cancel'],
    ['npm test', 'block'],
    ['npm install && npm test', 'block'],
    ['cargo build', 'block'],
    ['echo hello', 'block'],
  ])('meets an interrupt of "%s" with %s', (command, behavior) => {
    expect(bash.interruptBehavior({ command })).toBe(behavior);
  });

  it.each([
    ['grep x file', 1, 'no matches found'],
    ['cat file | grep x', 1, 'no matches found'],
    ['diff a b', 1, 'the files differ'],
    ['git diff --exit-code', 1, 'the files differ'],
    ['test -f x', 1, 'the condition is false'],
    ['grep x file', 2, undefined],
    ['make && grep x file', 1, undefined],
    ['false', 1, undefined],
  ])('reads the end of "%s" with %i as: %s', (command, code, answer) => {
    expect(exitAnswer(new ShellLine(command).verdict, code)).toBe(answer);
  });

  it('draws a command that is still streaming in', () => {
    expect(bash.renderToolUseMessage({})).toMatchObject({ title: 'Bash', blocks: [{ kind: 'code', text: '…' }] });
    expect(bash.renderToolUseMessage({ command: 'ls -l', description: 'List' })).toMatchObject({ subtitle: 'List' });
  });
});
