/** Real programs and a real address as hooks: side by side, bounded, and gone when they are done. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HookSettings } from '../../../config/settings/hooks.ts';
import type { HookAsk } from '../../../src/hooks/hooks.ts';
import { decides, hookScript, hooksOn, occasionOf, says, shell } from '../../helpers/hook-sessions.ts';
import { processesWith, testProcessHost } from '../../helpers/process-host.ts';

const processHost = testProcessHost();
const QUIET: HookAsk = { signal: new AbortController().signal, onSlow: () => undefined };
type Hook = NonNullable<HookSettings['PreToolUse']>[number]['hooks'][number];

function ask(hooks: readonly Hook[], limits: Parameters<typeof hooksOn>[2] = {}, more: Partial<HookAsk> = {}) {
  const occasion = occasionOf('PreToolUse');
  const made = hooksOn(processHost, { PreToolUse: [{ hooks: [...hooks] }] }, limits);
  return made.ask(occasion, { ...QUIET, ...more }).then((verdict) => ({ ...verdict, notices: occasion.notices }));
}

describe('hooks of one event', () => {
  it('run side by side, and the strictest word holds', async () => {
    const slow = (word: string) => shell(`sleep 0.4; printf '{"hookSpecificOutput":{"permissionDecision":"${word}"}}'`);
    const startMs = performance.now();
    const { permission } = await ask([slow('allow'), slow('ask'), slow('deny'), slow('allow')]);
    expect(permission?.behavior).toBe('deny');
    expect(performance.now() - startMs).toBeLessThan(1_200);
  });

  it('replace an input in their order, and keep all that they add', async () => {
    const replaces = (word: string) => decides('allow', { updatedInput: { word }, additionalContext: word });
    const verdict = await ask([replaces('first'), replaces('second')]);
    expect(verdict).toMatchObject({ updatedInput: { word: 'second' }, additionalContexts: ['first', 'second'] });
  });

  it('are not started for a name they do not match', async () => {
    const made = hooksOn(processHost, { PreToolUse: [{ matcher: 'Bash', hooks: [shell('exit 2')] }] });
    expect(await made.ask(occasionOf('PreToolUse'), QUIET)).toEqual({
      additionalContexts: [],
      feedback: [],
      updatedPermissions: [],
    });
    expect([made.has('PreToolUse'), made.has('PostToolUse')]).toEqual([true, false]);
  });

  it('are told of once when they take long', async () => {
    const told: object[] = [];
    const onSlow = (progress: object) => void told.push(progress);
    await ask([shell('sleep 0.6'), shell('true')], {}, { onSlow });
    expect(told).toEqual([{ type: 'hook', event: 'PreToolUse', message: 'Waiting for 2 hooks' }]);
  });

  it('say what goes to people, and what went wrong without the command', async () => {
    const { notices } = await ask([says({ systemMessage: 'hello' }), shell('echo oops >&2; exit 1 # canary')]);
    expect(notices).toEqual([
      'hook_message: hello',
      'hook_failed: Hook "hooks.PreToolUse.0.hooks.1" ended with exit code 1: oops',
    ]);
  });
});

describe('a command', () => {
  it('without arguments is a shell line, with them a program', async () => {
    expect((await ask([shell('test "$(jq -r .session_id)" = s || exit 2')])).permission).toBeUndefined();
    expect(
      (await ask([{ type: 'command', command: 'printf', args: ['%s', '{"decision":"block","reason":"$HOME;"}'] }]))
        .permission,
    ).toEqual({
      behavior: 'deny',
      reason: '$HOME;',
    });
  });

  it('knows the folder of its session, and none of the secrets of the server', async () => {
    process.env['CANARY_API_KEY'] = 'canary';
    const { permission } = await ask([shell('(env; pwd) >&2; exit 2')]);
    delete process.env['CANARY_API_KEY'];
    expect(permission?.reason).toContain('CLAUDE_PROJECT_DIR=/');
    expect(permission?.reason).not.toContain('canary');
  });

  it('need not read what it is told', async () => {
    const occasion = {
      ...occasionOf('PreToolUse'),
      payload: { ...occasionOf('PreToolUse').payload, much: 'x'.repeat(2_000_000) },
    };
    const made = hooksOn(processHost, { PreToolUse: [{ hooks: [decides('ask')] }] });
    expect((await made.ask(occasion, QUIET)).permission?.behavior).toBe('ask');
  });

  it.each<[string, Hook, string]>([
    [
      'hangs and ignores that it is told to stop',
      shell(hookScript('hang.sh'), { timeout: 0.3 }),
      'still running after 0.3 s',
    ],
    ['floods', shell(`node ${hookScript('flood.mjs')}`), 'printed more than'],
    ['is ended by a signal', shell('kill -SEGV $$'), 'ended by a signal'],
    ['is ended by a signal behind a shell', shell('(kill -SEGV $BASHPID); exit $?'), 'ended by a signal'],
    ['is not there', shell('/nowhere/guard.sh'), 'not found or could not be executed'],
    ['is no program', { type: 'command' as const, command: '/nowhere/guard', args: [] }, 'could not be started'],
    ['prints half a JSON', shell(`printf '{"hookSpecificOutput": {'`), 'begins like JSON'],
  ])('that %s lets nothing through and leaves nothing behind', async (_how, hook, why) => {
    const { permission, notices } = await ask([hook]);
    expect(permission?.behavior).toBe('deny');
    expect(permission?.reason).toContain(why);
    expect(notices[0]).toContain(why);
    expect(processesWith(`GAUNTLET_CALL_ID=${processHost.ownerId}`).length).toBeLessThanOrEqual(4);
  });

  it('ends with the call it belongs to', async () => {
    const controller = new AbortController();
    const asking = ask([shell('sleep 999')], {}, { signal: controller.signal });
    controller.abort();
    expect((await asking).permission?.behavior).toBe('deny');
  });

  it('that is only told holds nobody up, and ends with the server', async () => {
    const made = hooksOn(processHost, { SessionStart: [{ matcher: 'startup', hooks: [shell('sleep 999')] }] });
    made.tell(occasionOf('SessionStart', ['startup']));
    await made.close();
  });
});

describe('an address', () => {
  const seen: { body: string; headers: IncomingMessage['headers'] }[] = [];
  let answer: (reply: ServerResponse) => void;
  const server = createServer((request, reply) => {
    void text(request).then((body) => {
      seen.push({ body, headers: request.headers });
      answer(reply);
    });
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const hook = (fields: object = {}): Hook => ({
    type: 'http',
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    ...fields,
  });

  it('is posted the payload with its headers, and answers in the same words', async () => {
    answer = (reply) =>
      reply.setHeader('content-type', 'application/json').end('{"decision":"block","reason":"not here"}');
    const { permission } = await ask([hook({ headers: { 'x-secret': 'abc' } })]);
    expect(permission).toEqual({ behavior: 'deny', reason: 'not here' });
    expect(JSON.parse(seen.at(-1)?.body ?? '')).toMatchObject({ hook_event_name: 'PreToolUse', session_id: 's' });
    expect(seen.at(-1)?.headers).toMatchObject({ 'x-secret': 'abc', 'content-type': 'application/json' });
  });

  it('says nothing with an empty answer', async () => {
    answer = (reply) => reply.writeHead(204).end();
    expect((await ask([hook()])).permission).toBeUndefined();
  });

  it.each([
    ['redirects', (reply: ServerResponse) => void reply.writeHead(302, { location: '/' }).end(), 'status 302'],
    ['fails', (reply: ServerResponse) => void reply.writeHead(500).end('{"decision":"approve"}'), 'status 500'],
    ['floods', (reply: ServerResponse) => void reply.end(Buffer.alloc(3_000_000)), 'answered with more than'],
    ['hangs', () => undefined, 'no answer within 0.2 s'],
    ['hangs up', (reply: ServerResponse) => void reply.destroy(), 'could not be reached'],
    ['answers half a JSON', (reply: ServerResponse) => void reply.end('{"decision":'), 'begins like JSON'],
  ])('that %s lets nothing through', async (_how, how, why) => {
    answer = how;
    const { permission } = await ask([hook({ timeout: why.includes('0.2') ? 0.2 : 5 })]);
    expect(permission?.behavior).toBe('deny');
    expect(permission?.reason).toContain(why);
  });

  it('that is not there lets nothing through, and is not named', async () => {
    const { permission, notices } = await ask([{ type: 'http', url: 'http://127.0.0.1:9/canary' }]);
    expect(permission?.reason).toContain('could not be reached');
    expect(notices.join()).not.toContain('canary');
  });
});
