import { ShellLine } from '../../../src/shell/shell-line.ts';
import { isAbsolute, join, normalize } from 'node:path';
import { homedir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { buildTool } from '../../../src/tool/build-tool.ts';
import type { PermissionResult } from '../../../src/wire/decision.ts';
import type { LocatePath } from '../../../src/tool/located-path.ts';
import type { PermissionMode, RuleSet, RuleSource } from '../../../src/wire/permission-context.ts';
import type { Tool } from '../../../src/tool/tool.ts';
import { createPermissionContext } from '../../../src/permissions/context.ts';
import { decidePermission, type PermissionRequest } from '../../../src/permissions/decide.ts';
import { explainDecision } from '../../../src/permissions/explain.ts';
import { readDenial } from '../../../src/permissions/path-gate.ts';
import { hidingRule } from '../../../src/permissions/rule-index.ts';
import { shellMatcher } from '../../../src/shell/matcher.ts';
import { suggestShellSpecs } from '../../../src/shell/suggest.ts';
import { twoPersonRules } from '../../../src/permissions/two-person.ts';
import { invocationOf } from '../../helpers/invocation.ts';
import { sessionContextIn, toolUseContextIn } from '../../helpers/tool-use-context.ts';

const ROOT = '/ws';
const LINKS: Readonly<Record<string, string>> = { '/ws/link': '/etc/passwd', '/ws/alias.env': '/ws/.env' };

/** Where paths lie, without a disk: two links, one safety check, one refusal, one session file. */
const locate: LocatePath = async ({ path, access }) => {
  const home = path.replace(/^~(?=\/|$)/, homedir());
  const spelled = normalize(isAbsolute(home) ? home : join(ROOT, home)).replace(/(.)\/$/, '$1');
  const real = LINKS[spelled] ?? spelled;
  return {
    spelled,
    real,
    isInside: real === ROOT || real.startsWith(`${ROOT}/`),
    isSessionFile: real.startsWith('/state/session-1/'),
    ...(real.startsWith('/proc/') && { refusal: 'Cannot use it: it is no file' }),
    ...(access === 'write' && real.includes('/.git/') && { safety: 'it configures git' }),
  };
};

const parts = {
  prompt: () => '',
  description: () => '',
  maxResultSizeChars: 1_000,
  call: () => Promise.resolve({ data: '' }),
  mapToolResultToToolResultBlockParam: () => ({ type: 'tool_result' as const, tool_use_id: '', content: '' }),
};
const schema = z.strictObject({ path: z.string().describe('p') });
const pathTool = (name: string, access: 'read' | 'write', more: Partial<Tool> = {}) =>
  buildTool({
    ...parts,
    name,
    inputSchema: schema,
    isReadOnly: () => access === 'read',
    isFileEdit: access === 'write',
    paths: ({ path }: { path: string }) => [{ path, access }],
    ...more,
  } as never) as unknown as Tool;
const Read = pathTool('Read', 'read', { aliases: ['FileRead'] });
const Edit = pathTool('Edit', 'write');
const Write = pathTool('Write', 'write');
const Grep = pathTool('Grep', 'read');
const Bash = buildTool({
  ...parts,
  name: 'Bash',
  inputSchema: z.strictObject({ command: z.string().describe('c') }),
  isReadOnly: ({ command }) => new ShellLine(command).verdict.isReadOnly,
  paths: ({ command }) => new ShellLine(command).verdict.paths,
  preparePermissionMatcher: ({ command }) => shellMatcher(new ShellLine(command)),
  warnings: ({ command }) => new ShellLine(command).verdict.warnings,
  suggestRules: ({ command }) => suggestShellSpecs(new ShellLine(command)).map((spec) => `Bash(${spec})`),
  toAutoClassifierInput: ({ command }) => command,
}) as unknown as Tool;
const plain = (name: string, more: Partial<Tool> = {}) =>
  buildTool({ ...parts, name, inputSchema: z.strictObject({}), ...more } as never) as unknown as Tool;

interface Setting extends Partial<Pick<PermissionRequest, 'hook' | 'classifier' | 'twoPerson'>> {
  readonly mode?: PermissionMode;
  readonly rules?: Partial<RuleSet>;
  readonly source?: RuleSource;
  readonly avoid?: boolean;
  readonly isBypassAvailable?: boolean;
}

function decide(
  tool: Tool,
  input: Record<string, unknown>,
  {
    mode = 'default',
    rules = {},
    source = 'userSettings',
    avoid = false,
    isBypassAvailable = true,
    ...rest
  }: Setting = {},
) {
  const permissions = createPermissionContext({
    mode,
    rules: { [source]: rules },
    isBypassAvailable,
    shouldAvoidPermissionPrompts: avoid,
  });
  const context = toolUseContextIn(ROOT, {
    session: sessionContextIn(ROOT, { permissions }),
    sessionFolder: '/state/session-1',
  });
  return decidePermission({ invocation: invocationOf(tool, input), context, locate, ...rest });
}
const behavior = async (...question: Parameters<typeof decide>) => (await decide(...question)).behavior;
const bash = (command: string, setting: Setting = {}) => decide(Bash, { command }, setting);
const read = (path: string, setting: Setting = {}) => behavior(Read, { path }, setting);
const checked = (result: PermissionResult | Error) =>
  pathTool('Custom', 'read', {
    checkPermissions: () => {
      if (result instanceof Error) throw result;
      return result;
    },
  });

describe('the order of the ten steps', () => {
  test('a deny rule beats every mode, every other rule and every hook', async () => {
    const rules = { deny: ['Bash(rm:*)'], allow: ['Bash'] };
    for (const mode of ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions'] as const) {
      const decision = await bash('ls; sudo rm x', { mode, rules, hook: { behavior: 'allow' } });
      expect(decision).toMatchObject({
        behavior: 'deny',
        reason: { type: 'rule', rule: 'Bash(rm:*)', source: 'userSettings' },
      });
    }
  });

  test('a safety check asks in every mode, whatever rules and hooks say', async () => {
    for (const mode of ['default', 'acceptEdits', 'bypassPermissions'] as const) {
      const decision = await decide(
        Write,
        { path: '.git/config' },
        { mode, rules: { allow: ['Write', 'Edit'] }, hook: { behavior: 'allow' } },
      );
      expect(decision).toMatchObject({ behavior: 'ask', reason: { type: 'safety_check' } });
    }
    const required = checked({ behavior: 'ask', message: 'no sandbox', isSafetyCheck: true });
    expect(await behavior(required, { path: 'a' }, { mode: 'bypassPermissions' })).toBe('ask');
  });

  test('a path that may never be used is denied in every mode', async () => {
    expect(await decide(Read, { path: '/proc/self/environ' }, { mode: 'bypassPermissions' })).toMatchObject({
      behavior: 'deny',
      reason: { type: 'safety_check' },
    });
  });

  test('an ask rule comes before an allow rule and before bypassPermissions', async () => {
    const rules = { ask: ['Bash(git push:*)'], allow: ['Bash'] };
    expect(await bash('git -C x push', { rules, mode: 'bypassPermissions' })).toMatchObject({
      behavior: 'ask',
      reason: { type: 'rule', rule: 'Bash(git push:*)' },
    });
  });

  test('a required person is asked in every mode, and no hook answers for them', async () => {
    const tool = checked({ behavior: 'ask', message: 'which one?', isRequired: true });
    expect(await decide(tool, { path: 'a' }, { mode: 'bypassPermissions', hook: { behavior: 'allow' } })).toMatchObject(
      { behavior: 'ask', reason: { type: 'tool' } },
    );
  });

  test("a tool's own no holds in bypassPermissions", async () => {
    expect(
      await decide(checked({ behavior: 'deny', message: 'never' }), { path: 'a' }, { mode: 'bypassPermissions' }),
    ).toMatchObject({ behavior: 'deny', message: 'never' });
  });

  test('bypassPermissions allows the rest, where it is available', async () => {
    expect(await bash('touch a', { mode: 'bypassPermissions' })).toMatchObject({
      behavior: 'allow',
      reason: { type: 'mode', mode: 'bypassPermissions' },
    });
  });

  test('plan denies what does not only read, allow rules or not', async () => {
    expect(
      await bash('touch a', { mode: 'plan', rules: { allow: ['Bash'] }, hook: { behavior: 'allow' } }),
    ).toMatchObject({ behavior: 'deny', reason: { type: 'mode', mode: 'plan' } });
    expect((await bash('ls', { mode: 'plan' })).behavior).toBe('allow');
    expect(await behavior(plain('List', { touchesOnlySession: () => true }), {}, { mode: 'plan' })).toBe('allow');
  });

  test('a tool may touch only the session with some inputs, and one that cannot tell does not', async () => {
    const config = plain('Config', { touchesOnlySession: (input) => input['value'] === undefined });
    expect(await behavior(config, { setting: 'theme' })).toBe('allow');
    expect(await behavior(config, { setting: 'theme', value: 'dark' })).toBe('ask');
    expect(await behavior(config, { setting: 'theme', value: 'dark' }, { mode: 'plan' })).toBe('deny');
    const unsure = plain('Unsure', {
      touchesOnlySession: () => {
        throw new Error('no idea');
      },
    });
    expect(await behavior(unsure, {})).toBe('ask');
  });

  test('plan asks nobody about what it forbids, not even for safety', async () => {
    expect(await decide(Write, { path: '.git/config' }, { mode: 'plan' })).toMatchObject({
      behavior: 'deny',
      reason: { type: 'mode', mode: 'plan' },
    });
    expect((await bash('touch a', { mode: 'plan', rules: { ask: ['Bash(touch:*)'] } })).behavior).toBe('deny');
    expect((await bash('eval "$x"', { mode: 'plan', rules: { deny: ['Bash(rm:*)'] } })).behavior).toBe('deny');
  });

  test('acceptEdits allows edits inside the working directories alone', async () => {
    expect(await behavior(Edit, { path: 'a' }, { mode: 'acceptEdits' })).toBe('allow');
    expect(await behavior(Edit, { path: '/etc/x' }, { mode: 'acceptEdits' })).toBe('ask');
    expect((await bash('touch a', { mode: 'acceptEdits' })).behavior).toBe('ask');
  });

  test('reading inside needs nobody, reading outside does', async () => {
    expect(await decide(Read, { path: 'a' })).toMatchObject({ behavior: 'allow', reason: { type: 'read_only' } });
    expect(await read('/etc/passwd')).toBe('ask');
    expect(await read('link')).toBe('ask');
    expect((await bash('cat a')).behavior).toBe('allow');
    expect((await bash('cat /etc/passwd')).behavior).toBe('ask');
    expect((await bash('cat "$x"')).behavior).toBe('ask');
  });

  test('a tool without paths and a tool of a server never pass by their word', async () => {
    expect(await behavior(plain('Fetch', { isReadOnly: () => true }), {})).toBe('ask');
    expect(
      await behavior(
        plain('mcp__a__b', {
          isReadOnly: () => true,
          touchesOnlySession: () => true,
          paths: () => [],
          origin: { type: 'mcp', name: 'a' },
        }),
        {},
      ),
    ).toBe('ask');
  });

  test('dontAsk turns the question into a no that names the rule', async () => {
    const decision = await bash('npm run build', { mode: 'dontAsk' });
    expect(decision).toMatchObject({ behavior: 'deny', reason: { type: 'mode', mode: 'dontAsk' } });
    expect(decision.message).toContain('"Bash(npm run build:*)"');
    expect((await decide(Read, { path: '/etc/hosts' }, { avoid: true })).message).toContain('"Read(//etc/hosts)"');
    expect((await decide(Edit, { path: 'src/a.ts' }, { avoid: true })).message).toContain('"Edit(/src/a.ts)"');
  });

  test("a session's own files are read unasked in every mode", async () => {
    for (const mode of ['default', 'plan', 'dontAsk'] as const)
      expect(await read('/state/session-1/out.txt', { mode })).toBe('allow');
    expect(await read('/state/session-1/out.txt', { rules: { deny: ['Read(//state/**)'] } })).toBe('deny');
    expect(await read('/state/session-2/out.txt', { mode: 'dontAsk' })).toBe('deny');
  });
});

describe('rules', () => {
  test('name a tool by an alias', async () => {
    expect(await read('a', { rules: { deny: ['FileRead'] } })).toBe('deny');
  });

  test('a compound command is allowed by its parts', async () => {
    expect(
      await bash('npm test && touch a && ls', { rules: { allow: ['Bash(npm test:*)', 'Bash(touch:*)'] } }),
    ).toMatchObject({ behavior: 'allow', reason: { type: 'rule' } });
    const decision = await bash('npm test && rm x', { rules: { allow: ['Bash(npm test:*)'] } });
    expect(decision).toMatchObject({
      behavior: 'ask',
      parts: [
        { text: 'npm test', behavior: 'allow' },
        { text: 'rm x', behavior: 'ask' },
      ],
    });
  });

  test('that want two persons are named at the part of a compound command they guard', async () => {
    const rules = { allow: ['Bash(git:*)'], deny: ['Bash(rm:*)'] };
    const twoPerson = twoPersonRules(['Bash(git push:*)', 'Bash(rm:*)'], 2);
    const reason = { type: 'rule', rule: 'Bash(git push:*)' };
    expect(await bash('git add a && git push', { rules, twoPerson })).toMatchObject({
      behavior: 'ask',
      reason,
      parts: [
        { text: 'git add a', behavior: 'allow' },
        { text: 'git push', behavior: 'ask', reason },
      ],
    });
    const { parts: denied } = await bash('git push; rm a', { rules, twoPerson });
    expect(denied).toMatchObject([{ behavior: 'ask' }, { behavior: 'deny' }]);
  });

  test('that want two persons want them for text that cannot be seen, whatever a session allows', async () => {
    const twoPerson = twoPersonRules(['Bash(git push:*)'], 2);
    for (const command of ['bash release.sh', './release.sh', 'make release', 'npm run release', 'x=$y; let x']) {
      for (const rules of [{}, { allow: ['Bash'] }]) {
        expect(await bash(command, { rules, twoPerson, mode: 'bypassPermissions' }), command).toMatchObject({
          behavior: 'ask',
          reason: { type: 'rule', rule: 'Bash(git push:*)' },
          message: expect.stringContaining('cannot be analysed') as string,
          approvals: 2,
        });
      }
    }
    for (const command of ['git status', 'npm install', 'cat release.sh', "bash -c 'ls'"])
      expect(await bash(command, { rules: { allow: ['Bash'] }, twoPerson }), command).toMatchObject({
        behavior: 'allow',
      });
    const denied = { rules: { deny: ['Bash(make:*)'] }, twoPerson };
    expect((await bash('make release', denied)).behavior).toBe('deny');
    const unconcerned = twoPersonRules(['Write'], 2);
    expect((await bash('make', { rules: { allow: ['Bash'] }, twoPerson: unconcerned })).behavior).toBe('allow');
  });

  test('that want two persons for a path want them for what cannot be understood or seen', async () => {
    for (const rule of ['Edit(deploy/**)', 'Read(deploy/**)', 'Edit']) {
      const twoPerson = twoPersonRules([rule], 2);
      for (const command of ['eval "$x"', '$x deploy/y', 'bash ./x.sh'])
        expect(await bash(command, { rules: { allow: ['Bash'] }, twoPerson }), command).toMatchObject({
          behavior: 'ask',
          reason: { type: 'rule', rule },
          approvals: 2,
        });
      expect(await bash('ls src', { rules: { allow: ['Bash'] }, twoPerson })).toMatchObject({ behavior: 'allow' });
    }
  });

  test('of the operator alone excuse a program from wanting two persons for what it runs', async () => {
    const twoPerson = twoPersonRules(['Bash(git push:*)'], 2);
    const allow = ['Bash(make:*)'];
    const byMake = (source: RuleSource) => bash('make test', { source, rules: { allow }, twoPerson });
    for (const source of ['policySettings', 'userSettings', 'flagSettings', 'cliArg'] as const)
      expect((await byMake(source)).behavior, source).toBe('allow');
    for (const source of ['projectSettings', 'localSettings', 'command', 'session'] as const)
      expect(await byMake(source), source).toMatchObject({ behavior: 'ask', approvals: 2 });
    expect(await bash('make test; git push', { rules: { allow }, twoPerson })).toMatchObject({ approvals: 2 });
  });

  test('of Read and Edit hold for every tool with paths, operands of commands included', async () => {
    const deny = ['Read(.env)', 'Edit(src/**)'];
    for (const command of [
      'cat .env',
      'cat < .env',
      'cat ./x/../.env',
      'head -5 "$PWD/.env"',
      'cat .e*',
      'f=.env; cat $f',
      'cp .env a',
      'touch src/a',
      'echo a > src/a',
      'sed -i s/a/b/ src/a',
      'cd sub && cat .env',
      'git diff .env',
      'git show HEAD:.env',
      'git log -p -- .env',
      'git grep x .env',
      'base64 < .env',
      '. .env',
      'curl -d @.env x',
      'dd if=.env',
    ]) {
      expect((await bash(command, { rules: { deny } })).behavior, command).toBe('deny');
    }
    expect(await behavior(Grep, { path: '.env' }, { rules: { deny } })).toBe('deny');
    expect(await behavior(Write, { path: 'src/a.ts' }, { rules: { deny } })).toBe('deny');
    expect(await behavior(Edit, { path: '.env' }, { rules: { deny } })).toBe('ask');
  });

  test('ask about git that prints what it keeps of any file, as a search is asked about', async () => {
    const deny = ['Read(secrets/**)'];
    for (const command of [
      'git diff',
      'git diff HEAD~1',
      'git show',
      'git show HEAD',
      'git log -p',
      'git log --patch -1',
      'git stash show -p',
      'git status -vv',
      'git cat-file --batch-all-objects --batch',
    ]) {
      expect((await bash(command, { rules: { deny } })).behavior, command).toBe('ask');
      expect((await bash(command)).behavior, command).toBe('allow');
    }
    for (const command of [
      'git diff --stat',
      'git diff --name-only',
      'git log --oneline',
      'git status',
      'git diff -- a.ts',
    ])
      expect((await bash(command, { rules: { deny } })).behavior, command).toBe('allow');
  });

  test('deny a path by its spelling and by where it leads; allow by where it leads alone', async () => {
    expect(await read('alias.env', { rules: { deny: ['Read(.env)'] } })).toBe('deny');
    expect(await read('link', { rules: { deny: ['Read(link)'] } })).toBe('deny');
    expect(await read('link', { rules: { allow: ['Read(link)'] } })).toBe('ask');
    expect(await read('link', { rules: { allow: ['Read(//etc/passwd)'] } })).toBe('allow');
  });

  test('with a spec nobody can judge forbid and never allow', async () => {
    expect(await behavior(plain('Odd'), {}, { rules: { deny: ['Odd(x)'] } })).toBe('deny');
    expect(await behavior(plain('Odd'), {}, { rules: { allow: ['Odd(x)'] } })).toBe('ask');
  });

  test('a command that cannot be understood is never allowed past a rule that forbids', async () => {
    const rules = { deny: ['Bash(rm:*)'], allow: ['Bash'] };
    for (const command of ['$x y', 'ls &&', '$(cat f) z']) {
      expect(await bash(command, { rules, mode: 'bypassPermissions' }), command).toMatchObject({
        behavior: 'ask',
        reason: { type: 'parse_error' },
      });
    }
    expect((await bash('$x y', { rules: { allow: ['Bash'] } })).behavior).toBe('allow');
  });

  test('about domains hold for a tool that takes an address', async () => {
    const Fetch = buildTool({
      ...parts,
      name: 'WebFetch',
      inputSchema: z.strictObject({ url: z.string().describe('u') }),
    });
    const rules = { deny: ['WebFetch(domain:*.internal)'], allow: ['WebFetch(domain:example.com)'] };
    const fetch = async (url: string) => (await decide(Fetch as unknown as Tool, { url }, { rules })).behavior;
    expect(await fetch('https://example.com/a')).toBe('allow');
    expect(await fetch('https://db.internal/')).toBe('deny');
    expect(await fetch('https://elsewhere.org/')).toBe('ask');
  });

  test('a bare deny rule and a server hide tools', () => {
    const permissions = createPermissionContext({
      mode: 'default',
      rules: { session: { deny: ['Read', 'mcp__a'] } },
      isBypassAvailable: true,
    });
    expect(hidingRule(permissions, Read)).toEqual({ rule: 'Read', source: 'session' });
    expect(hidingRule(permissions, plain('mcp__a__x'))).toEqual({ rule: 'mcp__a', source: 'session' });
    expect(hidingRule(permissions, Edit)).toBeUndefined();
  });
});

describe('path patterns', () => {
  const denied = (pattern: string, path: string) =>
    readDenial(
      createPermissionContext({
        mode: 'default',
        rules: { session: { deny: [`Read(${pattern})`] } },
        isBypassAvailable: true,
      }),
      ROOT,
    )(path);

  test.each([
    ['.env', '/ws/.env', true],
    ['.env', '/ws/a/b/.env', true],
    ['.env', '/elsewhere/.env', true],
    ['.env', '/ws/.envrc', false],
    ['./secrets/**', '/ws/secrets/a/b', true],
    ['./secrets/**', '/ws/secrets', true],
    ['./secrets/', '/ws/secrets/a', true],
    ['./secrets', '/ws/x/secrets/a', false],
    ['secrets/**', '/ws/secretsx/a', false],
    ['/a/*.ts', '/ws/a/b.ts', true],
    ['/a/*.ts', '/ws/a/b/c.ts', false],
    ['src/**/x.ts', '/ws/src/a/b/x.ts', true],
    ['//etc/**', '/etc/passwd', true],
    ['//etc/**', '/etcetera', false],
    ['~/.ssh/**', join(homedir(), '.ssh/id_rsa'), true],
    ['**', '/ws/a', true],
    ['**/*.pem', '/ws/a/b.pem', true],
    ['*.pem', '/ws/a/b.pem', true],
    ['caf\u00e9.txt', '/ws/cafe\u0301.txt', true],
    ['\\[a\\].txt', '/ws/[a].txt', true],
    ['a*b*c*d*e*f*g', '/ws/x', true],
  ])('deny %s of %s is %s', (pattern, path, expected) => {
    expect(denied(pattern, path)).toBe(expected);
  });
});

describe('a rule under an alias', () => {
  test('forbids reading to every tool, as the real name does', async () => {
    const rules = { deny: ['FileRead(hidden/**)'] };
    expect(await read('hidden/a', { rules })).toBe('deny');
    expect(await behavior(Grep, { path: 'hidden/a' }, { rules })).toBe('deny');
    expect((await bash('cat hidden/a', { rules })).behavior).toBe('deny');
    expect((await bash('cat shown', { rules })).behavior).toBe('allow');
  });

  test('forbids editing to every tool, as the real name does', async () => {
    const rules = { deny: ['FileEdit(src/**)'], allow: ['Bash'] };
    expect(await behavior(Write, { path: 'src/a' }, { rules })).toBe('deny');
    expect((await bash('echo x > src/a', { rules })).behavior).toBe('deny');
  });

  test('wants two persons, as the real name does', async () => {
    const twoPerson = twoPersonRules(['FileEdit(prod/**)'], 2);
    for (const tool of [Edit, Write])
      expect(await decide(tool, { path: 'prod/a' }, { mode: 'acceptEdits', twoPerson })).toMatchObject({
        behavior: 'ask',
        approvals: 2,
      });
    expect(await behavior(Edit, { path: 'test/a' }, { mode: 'acceptEdits', twoPerson })).toBe('allow');
  });

  test('hides the tool, and is named as it was written', () => {
    const permissions = createPermissionContext({
      mode: 'default',
      rules: { session: { deny: ['FileRead'] } },
      isBypassAvailable: true,
    });
    expect(hidingRule(permissions, Read)).toEqual({ rule: 'FileRead', source: 'session' });
  });
});

describe('a path rule without a path', () => {
  test('forbids reading to every tool, inside and outside', async () => {
    const rules = { deny: ['Read'] };
    for (const path of ['a', '/etc/passwd']) {
      expect(await behavior(Grep, { path }, { rules, mode: 'bypassPermissions' })).toBe('deny');
      expect((await bash(`cat ${path}`, { rules, mode: 'bypassPermissions' })).behavior).toBe('deny');
    }
    expect((await bash('echo x', { rules })).behavior).toBe('allow');
    expect(await behavior(Edit, { path: 'a' }, { rules, mode: 'acceptEdits' })).toBe('allow');
  });

  test('forbids editing to every tool, and to what Bash is seen to write', async () => {
    const rules = { deny: ['Edit'] };
    for (const path of ['a', '/tmp/a']) {
      expect(await behavior(Write, { path }, { rules, mode: 'bypassPermissions' })).toBe('deny');
      expect((await bash(`echo x > ${path}`, { rules, mode: 'bypassPermissions' })).behavior).toBe('deny');
    }
    expect((await bash('eval "$x"', { rules, mode: 'bypassPermissions' })).behavior).toBe('ask');
    expect(await read('a', { rules })).toBe('allow');
  });

  test('asks before every tool reads', async () => {
    expect(await behavior(Grep, { path: 'a' }, { rules: { ask: ['Read'] } })).toBe('ask');
  });

  test('allows every tool to edit, inside and outside', async () => {
    for (const path of ['a', '/tmp/a'])
      expect(await behavior(Write, { path }, { rules: { allow: ['Edit'] } })).toBe('allow');
    expect(await behavior(Write, { path: '.git/config' }, { rules: { allow: ['Edit'] } })).toBe('ask');
  });

  test('hides nothing less than all from searches', () => {
    const permissions = createPermissionContext({
      mode: 'default',
      rules: { session: { deny: ['Read'] } },
      isBypassAvailable: true,
    });
    expect(readDenial(permissions, ROOT)('/ws/src/a.ts')).toBe(true);
    expect(readDenial(permissions, ROOT)('/etc/passwd')).toBe(true);
  });
});

describe('hooks and the classifier', () => {
  test('a hook that allows answers no ask rule', async () => {
    const hook = { behavior: 'allow' } as const;
    expect(await bash('git push', { rules: { ask: ['Bash(git push:*)'] }, hook })).toMatchObject({
      behavior: 'ask',
      reason: { type: 'rule', rule: 'Bash(git push:*)' },
    });
    expect(await behavior(Grep, { path: 'a' }, { rules: { ask: ['Read(a)'] }, hook })).toBe('ask');
    expect((await bash('grep -r x .', { rules: { ask: ['Read(.env)'] }, hook })).behavior).toBe('ask');
  });

  test('a hook allows what would have been asked, and tightens what would have been allowed', async () => {
    expect(await bash('touch a', { hook: { behavior: 'allow', reason: 'fine' } })).toMatchObject({
      behavior: 'allow',
      reason: { type: 'hook' },
    });
    expect(await bash('ls', { hook: { behavior: 'ask' } })).toMatchObject({
      behavior: 'ask',
      reason: { type: 'hook' },
    });
    expect(await bash('ls', { hook: { behavior: 'deny', reason: 'no' } })).toMatchObject({
      behavior: 'deny',
      reason: { type: 'hook' },
      message: 'no',
    });
    expect(await bash('touch a', { mode: 'bypassPermissions', hook: { behavior: 'deny' } })).toMatchObject({
      behavior: 'deny',
    });
  });

  test('auto puts a plain question to the classifier, and to a person when it fails', async () => {
    const answered = (answer: 'allow' | 'ask' | 'deny') =>
      bash('touch a', { mode: 'auto', classifier: () => Promise.resolve(answer) });
    expect(await answered('allow')).toMatchObject({ behavior: 'allow', reason: { type: 'classifier' } });
    expect((await answered('deny')).behavior).toBe('deny');
    expect((await answered('ask')).behavior).toBe('ask');
    expect((await bash('touch a', { mode: 'auto' })).behavior).toBe('ask');
    expect(
      (await bash('touch a', { mode: 'auto', classifier: () => Promise.reject(new Error('down')) })).behavior,
    ).toBe('ask');
    expect(await behavior(plain('Odd'), {}, { mode: 'auto', classifier: () => Promise.resolve('allow') })).toBe('ask');
    expect(
      (
        await bash('touch a', {
          mode: 'auto',
          rules: { ask: ['Bash(touch:*)'] },
          classifier: () => Promise.resolve('allow'),
        })
      ).behavior,
    ).toBe('ask');
  });
});

describe('a tool that throws', () => {
  const broken = () => {
    throw new Error('broken');
  };
  test.each<[string, Tool]>([
    ['checkPermissions', checked(new Error('broken'))],
    ['paths', pathTool('X', 'read', { paths: broken })],
    ['isReadOnly', pathTool('X', 'read', { isReadOnly: broken })],
    ['preparePermissionMatcher', pathTool('X', 'read', { preparePermissionMatcher: broken })],
    ['warnings', pathTool('X', 'read', { warnings: broken })],
  ])('in %s is asked about, in bypassPermissions too', async (_, tool) => {
    expect(await behavior(tool, { path: 'a' }, { mode: 'bypassPermissions', hook: { behavior: 'allow' } })).toBe('ask');
    expect(await behavior(tool, { path: 'a' }, { mode: 'dontAsk' })).toBe('deny');
  });
});

test('an explanation has every field of the wire', async () => {
  const decision = await bash('rm -rf build');
  const explained = explainDecision(decision, invocationOf(Bash, { command: 'rm -rf build' }));
  expect(explained).toMatchObject({
    behavior: 'ask',
    reason: { type: 'default' },
    read_only: false,
    concurrency_safe: false,
    destructive: false,
    suggestions: [{ type: 'addRules', behavior: 'allow', rules: ['Bash(rm -rf build)'] }],
    parts: [{ text: 'rm -rf build', behavior: 'ask', reason: { type: 'default' } }],
  });
  expect(explained.warnings).not.toEqual([]);
});

test('what is outside is suggested as a directory, never the whole disk, a home or where keys stand', async () => {
  expect((await decide(Read, { path: '/srv/data/a.txt' })).suggestions).toEqual([
    { type: 'addDirectories', directories: ['/srv/data'] },
  ]);
  for (const path of ['/', '/etc', homedir(), join(homedir(), '.ssh')])
    expect((await decide(Read, { path })).suggestions, path).toEqual([]);
  const { suggestions } = await decide(Read, { path: join(homedir(), '.ssh/config') });
  expect(suggestions).toEqual([{ type: 'addRules', behavior: 'allow', rules: [`Read(/${homedir()}/.ssh/config)`] }]);
  expect((await decide(Edit, { path: 'a' })).suggestions).toEqual([{ type: 'setMode', mode: 'acceptEdits' }]);
});

describe('what would allow a call is named only where it would', () => {
  const named = async (tool: Tool, input: Record<string, unknown>, setting: Setting) => {
    const { suggestions, message } = await decide(tool, input, setting);
    return suggestions.length > 0 || message.includes('would allow it');
  };

  test.each<[string, Setting, boolean]>([
    ['nothing but the lack of a rule', {}, true],
    ['nobody to ask', { avoid: true }, true],
    ['mode dontAsk', { mode: 'dontAsk' }, true],
    ['a classifier', { mode: 'auto', classifier: () => Promise.resolve('deny') }, true],
    ['a deny rule', { rules: { deny: ['Bash(rm:*)'] } }, false],
    ['an ask rule', { rules: { ask: ['Bash(rm:*)'] } }, false],
    ['an ask rule with nobody to ask', { rules: { ask: ['Bash(rm:*)'] }, mode: 'dontAsk' }, false],
    ['mode plan', { mode: 'plan' }, false],
    ['a hook', { hook: { behavior: 'deny' } }, false],
  ])('when %s is in the way', async (_, setting, isNamed) => {
    expect(await named(Bash, { command: 'rm -rf build' }, setting)).toBe(isNamed);
  });

  test('and not beside a safety check', async () => {
    expect(await named(Edit, { path: '.git/config' }, { avoid: true })).toBe(false);
    expect(await named(Edit, { path: 'a' }, { avoid: true })).toBe(true);
  });
});
