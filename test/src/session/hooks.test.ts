/** Hooks around real calls of a session: what they block, change, add and hear of. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HookSetting } from '../../../config/settings/hooks.ts';
import { GauntletError } from '../../../src/base/errors.ts';
import type { NewSession } from '../../../src/session/directory/new-session.ts';
import { effectTool, noteTool } from '../../helpers/fake-tools.ts';
import { decides, hookScript, hookSessions, says, shell } from '../../helpers/hook-sessions.ts';
import { mcpTool } from '../../helpers/plain-tool.ts';
import { testProcessHost, until } from '../../helpers/process-host.ts';
import { blockOf, execute, frameWhere, question } from '../../helpers/session-services.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const processHost = testProcessHost();
const any = (...hooks: HookSetting[]) => [{ hooks }];
const BYPASS = { mode: 'bypassPermissions' } as const;

describe('a guard', () => {
  it('that people wrote elsewhere blocks what it always blocked', async () => {
    const { tool, effects } = effectTool();
    const { run } = hookSessions(processHost, [tool], {
      PreToolUse: [{ matcher: 'Effect', hooks: [shell(hookScript('block-destructive.sh'))] }],
    });
    const blocked = await run('Effect', { text: 'rm -rf /' }, BYPASS);
    expect(blocked).toMatchObject({
      status: 'denied',
      errorCode: 'hook_blocked',
      content: 'Destructive command blocked: rm -rf /',
    });
    expect(await run('Effect', { text: 'ls' }, BYPASS)).toMatchObject({ status: 'ok' });
    expect(effects).toEqual(['ls']);
  });

  it('is told the fields of the public contract, the input as rules see it', async () => {
    const path = join(temporaryFolder(), 'told');
    const backfills = { backfillObservableInput: (clone: Record<string, unknown>) => void (clone['derived'] = true) };
    const { run } = hookSessions(processHost, [noteTool(backfills)], {
      PreToolUse: any(shell(`${hookScript('record.mjs')} ${path}`)),
    });
    const { session } = await run('Note', { text: 'a' }, { mode: 'acceptEdits' });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      session_id: session.id,
      cwd: session.context.cwd,
      permission_mode: 'acceptEdits',
      hook_event_name: 'PreToolUse',
      tool_name: 'Note',
      tool_input: { text: 'a', derived: true },
      tool_use_id: 'call-1',
    });
  });

  it('that is an alias in the settings knows the tool by its name', async () => {
    const { run } = hookSessions(processHost, [noteTool({ aliases: ['OldNote'] })], {
      PreToolUse: [{ matcher: 'OldNote', hooks: [shell('exit 2')] }],
    });
    expect(await run('Note', {})).toMatchObject({ errorCode: 'hook_blocked' });
  });

  it('that ends the turn takes what is queued with it', async () => {
    const stop = says({ continue: false, stopReason: 'enough for today' });
    const { directory } = hookSessions(processHost, [effectTool().tool], { PreToolUse: any(stop) });
    const { calls, results } = await execute(await directory.create('owner', BYPASS), [
      blockOf('Effect', 'a'),
      blockOf('Effect', 'b'),
    ]);
    expect(calls.map(({ error_code }) => error_code)).toEqual(['hook_blocked', 'cancelled']);
    expect(results[0]?.content).toBe('enough for today');
  });

  it('that hangs can be cancelled, and nothing ran', async () => {
    const { tool, effects } = effectTool();
    const { directory } = hookSessions(processHost, [tool], { PreToolUse: any(shell('sleep 999')) });
    const session = await directory.create('owner', BYPASS);
    const reply = execute(session, [blockOf('Effect', 'a')]);
    const progress = await frameWhere(session, ({ type }) => type === 'progress');
    expect(progress).toMatchObject({ tool_use_id: 'a', data: { type: 'hook', event: 'PreToolUse' } });
    session.cancel({ toolUseId: 'a' });
    expect((await reply).calls[0]).toMatchObject({ status: 'cancelled' });
    expect(effects).toEqual([]);
  });

  it('is not asked by explain', async () => {
    const path = join(temporaryFolder(), 'told');
    const { directory } = hookSessions(processHost, [noteTool()], { PreToolUse: any(shell(`touch ${path}; exit 2`)) });
    expect(await (await directory.create('owner', {})).explain('Note', {})).toMatchObject({ behavior: 'allow' });
    expect(existsSync(path)).toBe(false);
  });
});

describe('a hook that allows', () => {
  it('answers for a person', async () => {
    const { tool, effects } = effectTool();
    expect(
      await hookSessions(processHost, [tool], { PreToolUse: any(decides('allow')) }).run('Effect', { text: 'a' }),
    ).toMatchObject({ status: 'ok' });
    expect(effects).toEqual(['a']);
  });

  it.each<[string, NewSession, Parameters<typeof effectTool>[1]]>([
    ['a deny rule', { rules: { deny: ['Effect(x)'] } }, {}],
    ['plan mode', { mode: 'plan' }, {}],
    ['a safety check', {}, { checkPermissions: () => ({ behavior: 'ask', message: 'careful', isSafetyCheck: true }) }],
  ])('does not beat %s', async (_what, session, changes) => {
    const { tool, effects } = effectTool('Effect', changes);
    const hooks = {
      PreToolUse: any(decides('allow')),
      PermissionRequest: any(says({ hookSpecificOutput: { decision: { behavior: 'allow' } } })),
    };
    expect(await hookSessions(processHost, [tool], hooks).run('Effect', {}, session)).toMatchObject({
      errorCode: 'permission_denied',
    });
    expect(effects).toEqual([]);
  });

  it('loses to one that asks, and to one that denies', async () => {
    const { tool, effects } = effectTool();
    const asks = hookSessions(processHost, [tool], {
      PreToolUse: any(decides('allow'), decides('ask', { permissionDecisionReason: 'sure?' })),
    });
    expect(await asks.run('Effect', {}, BYPASS)).toMatchObject({
      status: 'denied',
      content: expect.stringContaining('sure?') as string,
    });
    const denies = hookSessions(processHost, [tool], {
      PreToolUse: any(decides('allow'), shell('echo no >&2; exit 2')),
    });
    expect(await denies.run('Effect', {}, BYPASS)).toMatchObject({ errorCode: 'hook_blocked', content: 'no' });
    expect(effects).toEqual([]);
  });
});

describe('an input that a hook replaced', () => {
  it('is what runs, once, however often the hook would change it', async () => {
    const { tool, effects } = effectTool();
    const prefix = `jq -c '{hookSpecificOutput:{permissionDecision:"allow",updatedInput:{text:("safe " + .tool_input.text)}}}'`;
    expect(
      await hookSessions(processHost, [tool], { PreToolUse: any(shell(prefix)) }).run('Effect', { text: 'a' }),
    ).toMatchObject({ status: 'ok' });
    expect(effects).toEqual(['safe a']);
  });

  it('keeps what the hook said of it when it has no more to say', async () => {
    const { tool, effects } = effectTool();
    const once = `jq -c 'if .tool_input.text == "a" then {hookSpecificOutput:{permissionDecision:"allow",updatedInput:{text:"b"}}} else {} end'`;
    expect(
      await hookSessions(processHost, [tool], { PreToolUse: any(shell(once)) }).run('Effect', { text: 'a' }),
    ).toMatchObject({ status: 'ok' });
    expect(effects).toEqual(['b']);
  });

  it('is parsed again', async () => {
    const { tool, effects } = effectTool();
    const { run } = hookSessions(processHost, [tool], {
      PreToolUse: any(decides('allow', { updatedInput: { text: 7 } })),
    });
    expect(await run('Effect', { text: 'a' })).toMatchObject({
      errorCode: 'invalid_input',
      content: expect.stringContaining('InputValidationError') as string,
    });
    expect(effects).toEqual([]);
  });

  it('is judged again, by rules and by the other hooks', async () => {
    const { tool, effects } = effectTool('Effect', {
      preparePermissionMatcher: ({ text }) => ({
        hits: (specs) => specs.find((spec) => spec === text),
        covers: () => undefined,
      }),
    });
    const replaces = decides('allow', { updatedInput: { text: 'rm -rf /' } });
    const byRule = hookSessions(processHost, [tool], { PreToolUse: any(replaces) });
    expect(await byRule.run('Effect', { text: 'a' }, { rules: { deny: ['Effect(rm -rf /)'] } })).toMatchObject({
      errorCode: 'permission_denied',
    });
    const byHook = hookSessions(processHost, [tool], {
      PreToolUse: any(replaces, shell(hookScript('block-destructive.sh'))),
    });
    expect(await byHook.run('Effect', { text: 'a' })).toMatchObject({ errorCode: 'hook_blocked' });
    expect(effects).toEqual([]);
  });

  it('loses what was only added to be seen', async () => {
    const { tool, effects } = effectTool('Effect', {
      backfillObservableInput: (clone) => void (clone['derived'] = true),
    });
    const { run } = hookSessions(processHost, [tool], {
      PreToolUse: any(decides('allow', { updatedInput: { text: 'b', derived: true } })),
    });
    expect(await run('Effect', { text: 'a' })).toMatchObject({ status: 'ok' });
    expect(effects).toEqual(['b']);
  });

  it('by a person is shown to the hooks before it runs', async () => {
    const { tool, effects } = effectTool();
    const { directory } = hookSessions(processHost, [tool], {
      PreToolUse: any(shell(hookScript('block-destructive.sh'))),
    });
    const session = await directory.create('owner', { onAsk: 'wait' });
    const turn = await session.submit({ blocks: [blockOf('Effect', 'a')] });
    const { request_id } = await question(session);
    await session.answer(request_id, { behavior: 'allow', updatedInput: { text: 'rm -rf /' } }, 'owner');
    expect((await session.collect(turn, AbortSignal.timeout(5_000))).calls[0]).toMatchObject({
      error_code: 'hook_blocked',
    });
    expect(effects).toEqual([]);
  });
});

describe('after a call', () => {
  const secret = noteTool({ renderToolResultMessage: () => ({ title: 'the secret', blocks: [] }) });

  it('a hook hears what the tool handed back, and adds to the conversation', async () => {
    const path = join(temporaryFolder(), 'told');
    const adds = says({ hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'after' } });
    const before = decides('allow', { additionalContext: 'before' });
    const { run } = hookSessions(processHost, [noteTool()], {
      PreToolUse: any(before),
      PostToolUse: any(shell(`${hookScript('record.mjs')} ${path}`), adds),
    });
    const { reply, content } = await run('Note', { text: 'a' });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      hook_event_name: 'PostToolUse',
      tool_name: 'Note',
      tool_input: { text: 'a' },
      tool_response: { text: 'a' },
    });
    expect(reply.newMessages).toEqual([
      { role: 'user', content: 'before' },
      { role: 'user', content: 'after' },
    ]);
    expect(content).toBe('{"text":"a"}');
  });

  it('a hook replaces the output, and nothing of the old one is left', async () => {
    const { run } = hookSessions(processHost, [secret], {
      PostToolUse: any(says({ hookSpecificOutput: { updatedToolOutput: '[redacted]' } })),
    });
    const { content, frames } = await run('Note', { text: 'the secret' });
    expect(content).toBe('[redacted]');
    expect(JSON.stringify(frames.find(({ type }) => type === 'result'))).not.toContain('the secret');
  });

  it('a hook replaces the output of MCP tools by the older word, and no other', async () => {
    const redacts = any(says({ hookSpecificOutput: { updatedMCPToolOutput: '[redacted]' } }));
    const tools = [noteTool(), mcpTool('files', 'read')];
    const { run } = hookSessions(processHost, tools, { PostToolUse: redacts });
    expect((await run('mcp__files__read', { text: 'a' }, BYPASS)).content).toBe('[redacted]');
    expect((await run('Note', { text: 'a' }, BYPASS)).content).toBe('{"text":"a"}');
  });

  it.each([
    [[{ type: 'text', text: 'a' }], [{ type: 'text', text: 'a' }]],
    [{ stdout: 'a' }, '{"stdout":"a"}'],
    [[{ type: 'text' }], '[{"type":"text"}]'],
    [null, 'null'],
  ])('output may be %j', async (updatedToolOutput, shown) => {
    const { run } = hookSessions(processHost, [secret], {
      PostToolUse: any(says({ hookSpecificOutput: { updatedToolOutput } })),
    });
    expect((await run('Note', {})).content).toEqual(shown);
  });

  it('an objection stands before the result, by exit code or by word', async () => {
    const { run } = hookSessions(processHost, [noteTool()], {
      PostToolUse: any(says({ decision: 'block', reason: 'lint it' }), shell('echo test it >&2; exit 2')),
    });
    expect(await run('Note', { text: 'a' })).toMatchObject({
      status: 'ok',
      content: 'A hook objects to this call, which has run: lint it\ntest it\n\n{"text":"a"}',
    });
  });

  it('a broken hook is told of, and withholds the result only where it is a guard', async () => {
    const lax = await hookSessions(processHost, [secret], { PostToolUse: any(shell('kill -SEGV $$')) }).run('Note', {
      text: 'the secret',
    });
    expect(lax.status).toBe('ok');
    expect(lax.frames).toContainEqual(
      expect.objectContaining({ type: 'notice', level: 'warning', code: 'hook_failed' }),
    );
    const strict = await hookSessions(processHost, [secret], {
      PostToolUse: any(shell('kill -SEGV $$', { onFailure: 'block' })),
    }).run('Note', { text: 'the secret' });
    expect(strict).toMatchObject({ errorCode: 'hook_blocked', content: expect.stringContaining('withheld') as string });
    expect(JSON.stringify(strict.frames.find(({ type }) => type === 'result'))).not.toContain('the secret');
  });

  it('a hook ends the turn', async () => {
    const { directory } = hookSessions(processHost, [effectTool().tool], {
      PostToolUse: any(says({ continue: false, stopReason: 'enough' })),
    });
    const { calls, results } = await execute(await directory.create('owner', BYPASS), [
      blockOf('Effect', 'a'),
      blockOf('Effect', 'b'),
    ]);
    expect(calls.map(({ error_code }) => error_code ?? 'ok')).toEqual(['ok', 'cancelled']);
    expect(results[0]?.content).toMatch(/^A hook ended this turn: enough\n/);
  });

  it('that failed, other hooks hear of it', async () => {
    const path = join(temporaryFolder(), 'told');
    const { tool } = effectTool('Effect', { call: () => Promise.reject(new GauntletError('timeout', 'too slow')) });
    const { run } = hookSessions(processHost, [tool], {
      PostToolUse: any(shell(`touch ${path}.wrong`)),
      PostToolUseFailure: any(shell(`${hookScript('record.mjs')} ${path}`)),
    });
    expect(await run('Effect', {}, BYPASS)).toMatchObject({ errorCode: 'timeout', content: 'too slow' });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      hook_event_name: 'PostToolUseFailure',
      error: 'too slow',
      error_code: 'timeout',
    });
    expect(existsSync(`${path}.wrong`)).toBe(false);
  });

  it('that was cancelled meanwhile, the result is a cancelled one', async () => {
    const { directory } = hookSessions(processHost, [noteTool()], { PostToolUse: any(shell('sleep 999')) });
    const session = await directory.create('owner', {});
    const reply = execute(session, [blockOf('Note', 'a')]);
    await frameWhere(session, ({ type }) => type === 'progress');
    session.cancel({ toolUseId: 'a' });
    expect((await reply).calls[0]).toMatchObject({ status: 'cancelled' });
  });
});

describe('a question', () => {
  const answers = (decision: Parameters<typeof says>[0]) => ({
    PermissionRequest: any(says({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })),
  });

  it('is answered by a hook before a person is asked', async () => {
    const { tool, effects } = effectTool();
    const { run } = hookSessions(processHost, [tool], answers({ behavior: 'allow', updatedInput: { text: 'b' } }));
    const { status, frames } = await run('Effect', { text: 'a' }, { onAsk: 'wait' });
    expect([status, effects]).toEqual(['ok', ['b']]);
    expect(frames.some(({ type }) => type === 'permission_request')).toBe(false);
  });

  it.each([
    ['our own words', { type: 'addRules', behavior: 'allow', rules: ['Effect'] }],
    [
      'those of the public contract',
      { type: 'addRules', behavior: 'allow', rules: [{ toolName: 'Effect' }], destination: 'session' },
    ],
  ])('is answered for all that come after it, in %s', async (_words, update) => {
    const { tool } = effectTool();
    const hooks = answers({ behavior: 'allow', updatedPermissions: [update] });
    const { session, status } = await hookSessions(processHost, [tool], hooks).run('Effect', {});
    expect([status, session.permissions().rules.session?.allow]).toEqual(['ok', ['Effect']]);
  });

  it('is answered by what a hook adds beside it, for another call', async () => {
    const { tool } = effectTool();
    const update = { type: 'addRules', behavior: 'allow', rules: ['Effect', 'Other'] };
    const settings = answers({ behavior: 'allow', updatedPermissions: [update] });
    const hooks = { PermissionRequest: settings.PermissionRequest.map((each) => ({ ...each, matcher: 'Effect' })) };
    const other = effectTool('Other', { isConcurrencySafe: () => true }).tool;
    const { directory } = hookSessions(processHost, [{ ...tool, isConcurrencySafe: () => true }, other], hooks);
    const session = await directory.create('owner', { onAsk: 'wait' });
    const asked = session.submit({ blocks: [blockOf('Other', 'a')], onAsk: 'wait' });
    await question(session);
    await session.submit({ blocks: [blockOf('Effect', 'b')], onAsk: 'wait' });
    const { calls } = await session.collect(await asked, AbortSignal.timeout(5_000));
    expect(calls[0]).toMatchObject({ tool_use_id: 'a', status: 'ok' });
    const resolved = await frameWhere(session, ({ type }) => type === 'permission_resolved');
    expect(resolved).toMatchObject({ tool_use_id: 'a', by: 'rule' });
  });

  it.each([
    ['cannot be', { type: 'addRules', behavior: 'allow', rules: ['not a rule!'] }, 'Cannot use rule'],
    ['is none', { type: 'grantEverything' }, 'with a wrong "hookSpecificOutput.decision.updatedPermissions'],
  ])('is not answered by a yes with an update that %s', async (_what, update, problem) => {
    const { tool, effects } = effectTool();
    const hooks = answers({ behavior: 'allow', updatedPermissions: [update] });
    const { status, frames } = await hookSessions(processHost, [tool], hooks).run('Effect', {});
    expect([status, effects]).toEqual(['denied', []]);
    expect(frames.find(({ type }) => type === 'notice')).toMatchObject({
      code: 'hook_failed',
      message: expect.stringContaining(problem) as string,
    });
  });

  it('is denied by a hook, with its message', async () => {
    const { run } = hookSessions(
      processHost,
      [effectTool().tool],
      answers({ behavior: 'deny', message: 'office hours only' }),
    );
    expect(await run('Effect', {}, { onAsk: 'wait' })).toMatchObject({
      errorCode: 'hook_blocked',
      content: 'office hours only',
    });
  });

  it('goes to a person when the hook breaks or says nothing', async () => {
    const { tool } = effectTool();
    const { directory } = hookSessions(processHost, [tool], {
      PermissionRequest: any(shell('kill -SEGV $$'), shell('true')),
    });
    const session = await directory.create('owner', { onAsk: 'wait' });
    const turn = await session.submit({ blocks: [blockOf('Effect', 'a')] });
    await session.answer((await question(session)).request_id, { behavior: 'allow' }, 'owner');
    expect((await session.collect(turn, AbortSignal.timeout(5_000))).calls[0]?.status).toBe('ok');
  });
});

describe('the call of a call', () => {
  /** Asks about `Effect` with its own text, and runs nothing. */
  const outer = effectTool('Outer', {
    call: async ({ text }, context, canUseTool) => {
      const [inner] = context.tools.filter(({ name }) => name === 'Effect');
      const data = inner && (await canUseTool(inner, { text }, context)).behavior;
      return { data };
    },
  }).tool;
  const tools = [outer, effectTool().tool];

  it.each(['allow', 'deny'])('passes on what hooks add, where they %s it too', async (behavior) => {
    const adds = decides(behavior, { additionalContext: 'mind the gap' });
    const { run } = hookSessions(processHost, tools, { PreToolUse: [{ matcher: 'Effect', hooks: [adds] }] });
    const { content, reply } = await run('Outer', { text: 'a' }, BYPASS);
    expect(content).toContain(behavior);
    expect(reply.newMessages).toEqual([{ role: 'user', content: 'mind the gap' }]);
  });

  it('ends the turn where a hook says so', async () => {
    const stop = says({ continue: false, stopReason: 'enough' });
    const hooks = { PreToolUse: [{ matcher: 'Effect', hooks: [stop] }] };
    const session = await hookSessions(processHost, tools, hooks).directory.create('owner', BYPASS);
    const { calls, results } = await execute(session, [blockOf('Outer', 'a'), blockOf('Outer', 'b')]);
    expect(calls.map(({ error_code }) => error_code ?? 'ok')).toEqual(['ok', 'cancelled']);
    expect(results[1]?.content).toContain('enough');
  });
});

describe('the result of a call of a call', () => {
  /** Runs `Effect` with its own text, and hands on what that gives. */
  const outer = effectTool('Outer', {
    call: async ({ text }, { run }) => {
      const { content, data } = await run({ name: 'Effect', input: { text: String(text) } });
      return { data: data ?? content };
    },
  }).tool;
  const failing = effectTool('Effect', { call: () => Promise.reject(new Error('no effect')) }).tool;
  const matching = (hook: object) => [{ matcher: 'Effect', hooks: [hook] }] as never;

  it('is shown to PostToolUse hooks, whose words reach the model', async () => {
    const adds = says({ hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'seen inside' } });
    const { run } = hookSessions(processHost, [outer, effectTool().tool], { PostToolUse: matching(adds) });
    const { content, reply } = await run('Outer', { text: 'a' }, BYPASS);
    expect(content).toContain('a');
    expect(reply.newMessages).toEqual([{ role: 'user', content: 'seen inside' }]);
  });

  it('is shown to PostToolUseFailure hooks where it failed', async () => {
    const adds = says({ hookSpecificOutput: { hookEventName: 'PostToolUseFailure', additionalContext: 'it failed' } });
    const { run } = hookSessions(processHost, [outer, failing], { PostToolUseFailure: matching(adds) });
    const { content, reply } = await run('Outer', { text: 'a' }, BYPASS);
    expect(content).toContain('no effect');
    expect(reply.newMessages).toEqual([{ role: 'user', content: 'it failed' }]);
  });

  it('is what a hook puts in its place', async () => {
    const replaces = says({ hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: 'redacted' } });
    const { run } = hookSessions(processHost, [outer, effectTool().tool], { PostToolUse: matching(replaces) });
    expect((await run('Outer', { text: 'secret' }, BYPASS)).content).toBe('"redacted"');
  });

  it('ends the turn where a hook says so', async () => {
    const stop = says({ continue: false, stopReason: 'enough inside' });
    const hooks = { PostToolUse: matching(stop) };
    const session = await hookSessions(processHost, [outer, effectTool().tool], hooks).directory.create(
      'owner',
      BYPASS,
    );
    const { calls } = await execute(session, [blockOf('Outer', 'a'), blockOf('Outer', 'b')]);
    expect(calls.map(({ error_code }) => error_code ?? 'ok')).toEqual(['ok', 'cancelled']);
  });
});

describe('hooks that are only told', () => {
  it('add to a session that begins, as a notice', async () => {
    const { directory } = hookSessions(processHost, [], { SessionStart: any(shell('echo on call: Ada')) });
    const session = await directory.create('owner', {});
    expect(await frameWhere(session, ({ type }) => type === 'notice')).toMatchObject({
      level: 'info',
      code: 'hook_context',
      message: 'on call: Ada',
    });
  });

  it('hear of a denial', async () => {
    const path = join(temporaryFolder(), 'told');
    const { run } = hookSessions(processHost, [effectTool().tool], {
      PermissionDenied: any(shell(`${hookScript('record.mjs')} ${path}`)),
    });
    await run('Effect', {}, { rules: { ask: ['Effect'] } });
    await until(() => existsSync(path) && readFileSync(path, 'utf8').trimEnd().endsWith('}'));
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      hook_event_name: 'PermissionDenied',
      tool_name: 'Effect',
      reason: expect.stringContaining('Effect') as string,
    });
  });

  it('hear of a session that begins and of one that is removed', async () => {
    const path = join(temporaryFolder(), 'told');
    const record = shell(`${hookScript('record.mjs')} ${path}`);
    const { directory } = hookSessions(processHost, [], {
      SessionStart: [
        { matcher: 'startup', hooks: [record] },
        { matcher: 'resume', hooks: [record] },
      ],
      SessionEnd: any(record),
    });
    const session = await directory.create('owner', {});
    const told = () => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []);
    await until(() => told().length === 1);
    await directory.remove('owner', session.id);
    await until(() => told().length === 2);
    expect(told().map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { hook_event_name: 'SessionStart', source: 'startup', session_id: session.id },
      { hook_event_name: 'SessionEnd', reason: 'other', session_id: session.id },
    ]);
  });
});
