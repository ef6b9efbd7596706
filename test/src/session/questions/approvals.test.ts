/** Who answers for a call beside rules: two persons, whoever was told from outside, a classifier. */
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../config/limits.ts';
import type { PermissionRequestFrame } from '../../../../src/wire/frames.ts';
import { openSqliteLog } from '../../../../src/log/sqlite-log.ts';
import type { Classification, PermissionClassifier } from '../../../../src/permissions/classifier.ts';
import { twoPersonRules } from '../../../../src/permissions/two-person.ts';
import { SessionDirectory } from '../../../../src/session/directory/session-directory.ts';
import type { SessionServices } from '../../../../src/session/session-services.ts';
import { effectTool } from '../../../helpers/fake-tools.ts';
import { AUTHORIZATION, listeningApp, TOKEN } from '../../../helpers/listening-app.ts';
import { blockOf, execute, framesOf, question, sessionServices } from '../../../helpers/session-services.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { testSessions } from '../../../helpers/test-sessions.ts';

const allow = { behavior: 'allow' } as const;

/** A session with one tool that needs `principals` of two, and a call of it that waits. */
async function waiting(
  services: Partial<Omit<SessionServices, 'limits'>> = {},
  request: Parameters<SessionDirectory['create']>[1] = {},
) {
  const { tool, effects } = effectTool();
  const { directory } = testSessions([tool], { services: { twoPerson: twoPersonRules(['Effect'], 2), ...services } });
  const session = await directory.create('ann', request);
  const turn = await session.submit({ blocks: [blockOf('Effect', 'a')], onAsk: 'wait' });
  const reply = session.collect(turn, AbortSignal.timeout(10_000));
  const asked = await question(session);
  return { directory, session, effects, reply, asked, answer: session.answer.bind(session, asked.request_id) };
}

describe('a call that needs two persons', () => {
  it('runs after the yes of two, who are both named', async () => {
    const { session, effects, reply, asked, answer } = await waiting();
    expect(asked).toMatchObject({
      approvals: { needed: 2, by: [] },
      suggestions: [],
      reason: { type: 'rule', rule: 'Effect' },
    });
    expect(await answer(allow, 'ann')).toEqual({ behavior: 'allow', by: 'ann', pending: true });
    expect([effects, session.prompts().map(({ approvals }) => approvals)]).toEqual([[], [{ needed: 2, by: ['ann'] }]]);
    expect(await answer(allow, 'bob')).toEqual({ behavior: 'allow', by: 'ann and bob' });
    expect((await reply).calls[0]?.status).toBe('ok');
    expect(
      (await framesOf(session)).flatMap((frame) => (frame.type === 'permission_resolved' ? [frame.by] : [])),
    ).toEqual(['ann and bob']);
  });

  it('is not allowed by one person twice, and denied by one no', async () => {
    const { effects, reply, answer } = await waiting();
    await answer(allow, 'ann');
    expect(await answer(allow, 'ann')).toMatchObject({ pending: true });
    expect(await answer({ behavior: 'deny', message: 'No' }, 'bob')).toEqual({ behavior: 'deny', by: 'bob' });
    expect([(await reply).calls[0]?.status, effects]).toEqual(['denied', []]);
    await expect(answer(allow, 'carl')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('takes no changed input and no new rules with a yes', async () => {
    const { answer } = await waiting();
    await expect(answer({ ...allow, updatedInput: { text: 'b' } }, 'ann')).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const updatedPermissions = [{ type: 'setMode', mode: 'plan' }] as const;
    await expect(answer({ ...allow, updatedPermissions }, 'ann')).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it.each([
    ['an allow rule', { rules: { allow: ['Effect'] } }],
    ['bypassPermissions', { mode: 'bypassPermissions' }],
    ['a classifier', { mode: 'auto' }],
  ] as const)('is asked about whatever %s says', async (_, request) => {
    const classifier: PermissionClassifier = { classify: () => Promise.resolve('allow') };
    const { session, asked } = await waiting({ classifier }, request);
    expect(asked.approvals?.needed).toBe(2);
    await session.updatePermissions([{ type: 'addRules', behavior: 'allow', rules: ['Effect'] }]);
    expect(session.prompts()).toHaveLength(1);
  });

  it('stays denied where it is denied, and is refused where nobody can be asked', async () => {
    const { tool } = effectTool();
    const { directory } = testSessions([tool], { services: { twoPerson: twoPersonRules(['Effect'], 1) } });
    const denied = await directory.create('ann', { rules: { deny: ['Effect'] } });
    expect((await execute(denied, [blockOf('Effect', 'a')])).calls[0]?.status).toBe('denied');
    const alone = await execute(await directory.create('ann', {}), [blockOf('Effect', 'a')]);
    expect(alone.results[0]?.content).toContain('only one is configured, so this call can never be allowed');
    expect(alone.results[0]?.content).not.toContain('would allow it');
  });

  it('is asked about again where a person put it in the place of another input', async () => {
    const { tool, effects } = effectTool('Effect', {
      preparePermissionMatcher: (input) => ({
        hits: (specs) => specs.find((spec) => spec === input['text']),
        covers: () => undefined,
      }),
    });
    const { directory } = testSessions([tool], { services: { twoPerson: twoPersonRules(['Effect(x)'], 2) } });
    const session = await directory.create('ann', {});
    const turn = await session.submit({ blocks: [blockOf('Effect', 'a')], onAsk: 'wait' });
    const first = await question(session);
    expect(first.approvals).toBeUndefined();
    await session.answer(first.request_id, { ...allow, updatedInput: { text: 'x' } }, 'ann');
    await expect.poll(() => session.prompts().map(({ approvals }) => approvals?.needed)).toEqual([2]);
    const again = session.prompts()[0]?.request_id ?? '';
    await session.answer(again, allow, 'ann');
    await session.answer(again, allow, 'bob');
    await session.collect(turn, AbortSignal.timeout(10_000));
    expect(effects).toEqual(['x']);
  });

  it('keeps the first yes across a restart', async () => {
    const folder = temporaryFolder();
    const { tool, effects } = effectTool();
    const open = () => {
      const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, durability: 'process' });
      const directory = new SessionDirectory(
        sessionServices(log, [tool], { folder, twoPerson: twoPersonRules(['Effect'], 2) }),
      );
      return { directory, close: () => (directory.close(), log.close()) };
    };
    const before = open();
    const session = await before.directory.create('ann', {});
    await session.submit({ blocks: [blockOf('Effect', 'a')], onAsk: 'wait' });
    const { request_id: id } = await question(session);
    await session.answer(id, allow, 'bob');
    await before.close();

    const after = open();
    afterAll(after.close);
    const woken = await after.directory.open('ann', session.id);
    expect(woken.prompts()).toMatchObject([{ request_id: id, approvals: { needed: 2, by: ['bob'] } }]);
    expect(await woken.answer(id, allow, 'ann')).toEqual({ behavior: 'allow', by: 'bob and ann' });
    await expect.poll(() => effects).toEqual(['a']);
  });

  it('is answered over HTTP by a principal who has no part in the session else', async () => {
    const { directory, session, asked } = await waiting();
    const { url } = await listeningApp({ directory });
    const own = `${url}/sessions/${session.id}/prompts`;
    const post = async (token: string, requestId = asked.request_id) => {
      const headers = { authorization: token, 'content-type': 'application/json' };
      const reply = await fetch(`${own}/${requestId}`, { method: 'POST', headers, body: JSON.stringify(allow) });
      return [reply.status, await reply.json()];
    };
    const other = `Bearer ${TOKEN}-other`;
    expect(await post(other)).toEqual([200, { behavior: 'allow', by: 'other', pending: true }]);
    expect((await fetch(own, { headers: { authorization: other } })).status).toBe(404);
    expect((await post(other, 'ask_0'))[0]).toBe(404);
    expect(await post(AUTHORIZATION.authorization)).toEqual([200, { behavior: 'allow', by: 'other and owner' }]);
  });
});

it('a new question is told of once, with its session, when it is on disk, and so is its end', async () => {
  const told: [string, PermissionRequestFrame][] = [];
  const ended: string[] = [];
  const { session, asked, answer } = await waiting({
    onQuestion: (...news) => told.push(news),
    onQuestionEnd: (requestId) => ended.push(requestId),
  });
  await answer(allow, 'ann');
  expect(ended).toEqual([]);
  await answer(allow, 'bob');
  expect(told.map(([id, { request_id }]) => [id, request_id])).toEqual([[session.id, asked.request_id]]);
  expect(ended).toEqual([asked.request_id]);
});

describe('mode "auto"', () => {
  async function run(answers: readonly (Classification | Error)[], command = 'touch a') {
    const { tool, effects } = effectTool('Effect', { toAutoClassifierInput: (input) => String(input['text']) });
    const asked: string[] = [];
    const classifier: PermissionClassifier = {
      classify: ({ text, cwd }) => {
        const answer = answers[asked.push(`${text} in ${cwd.split('/').at(-1) ?? ''}`) - 1] ?? 'ask';
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    };
    const { directory } = testSessions([tool], { services: { classifier } });
    const session = await directory.create('ann', { mode: 'auto', rules: { deny: ['Never'] } });
    const { calls, results } = await execute(session, [blockOf('Effect', 'a', command)]);
    return { status: calls[0]?.status, text: String(results[0]?.content), effects, asked, session };
  }

  it('runs what the classifier allows, and refuses what it denies', async () => {
    expect(await run(['allow'])).toMatchObject({ status: 'ok', effects: ['touch a'], asked: ['touch a in workspace'] });
    expect(await run(['deny'])).toMatchObject({
      status: 'denied',
      effects: [],
      text: 'Denied by the classifier of mode "auto"',
    });
  });

  it('asks a person where it says so, or fails', async () => {
    for (const answer of ['ask', new Error('down')] as const) {
      const { status, text, effects } = await run([answer]);
      expect([status, effects]).toEqual(['denied', []]);
      expect(text).toContain('questions are denied');
    }
  });

  it('shows its answer when a call is explained', async () => {
    const { session } = await run(['allow', 'allow']);
    expect(await session.explain('Effect', { text: 'x' })).toMatchObject({
      behavior: 'allow',
      reason: { type: 'classifier' },
    });
  });

  it('is for people where no classifier is configured', async () => {
    const { tool } = effectTool('Effect', { toAutoClassifierInput: () => 'x' });
    const session = await testSessions([tool]).directory.create('ann', { mode: 'auto' });
    expect((await execute(session, [blockOf('Effect', 'a')])).calls[0]?.status).toBe('denied');
  });
});
