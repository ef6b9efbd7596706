/** Agents with names, teams and mailboxes, over the real store. */
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from '../../../config/limits.ts';
import {
  AgentTeams,
  EVERYBODY,
  type Group,
  MAIN_AGENT,
  MAX_MAILBOX_MESSAGES,
  MAX_TEAM_MEMBERS,
} from '../../../src/agents/teams.ts';
import { openSqliteLog } from '../../../src/log/sqlite-log.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

function testTeams(changes: Partial<Limits> = {}) {
  const limits: Limits = { ...DEFAULT_LIMITS, ...changes };
  const log = openSqliteLog({ folder: temporaryFolder(), limits, durability: 'process' });
  afterAll(() => log.close());
  const main: Group = { principal: 'owner', id: 'ses_main', name: MAIN_AGENT };
  return {
    store: log.store,
    main,
    teams: new AgentTeams(log.store, limits),
    restarted: () => new AgentTeams(log.store, limits),
  };
}

const texts = (mail: readonly { readonly text: string }[]) => mail.map(({ text }) => text);

describe('mail', () => {
  it('reaches an agent once, in the order in which it was sent', async () => {
    const { teams, main } = testTeams();
    const box = await teams.enter(main, 'ses_child', 'ann');
    for (const text of ['one', 'two', 'three']) await teams.send(main, 'ann', { from: MAIN_AGENT, text });
    expect(texts(await box.read())).toEqual(['one', 'two', 'three']);
    await teams.send(main, 'ann', { from: MAIN_AGENT, text: 'four' });
    expect(texts(await box.read())).toEqual(['four']);
    expect(await box.read()).toEqual([]);
  });

  it('goes to nobody outside the group, nor to another principal', async () => {
    const { teams, main } = testTeams();
    await teams.enter(main, 'ses_child', 'ann');
    for (const stranger of [
      { ...main, id: 'ses_other' },
      { ...main, principal: 'bob', id: 'ses_b' },
    ])
      await expect(teams.send(stranger, 'ann', { from: MAIN_AGENT, text: 'x' })).rejects.toThrow(/"ann"/);
  });

  it('for all goes to all others, and is refused as a whole where one mailbox is full', async () => {
    const { teams, main } = testTeams();
    const ann = await teams.enter(main, 'ses_a', 'ann');
    const ben = await teams.enter(main, 'ses_b', 'ben');
    const asAnn: Group = { ...main, name: 'ann' };
    expect(await teams.send(asAnn, EVERYBODY, { from: 'ann', text: 'x' })).toEqual([MAIN_AGENT, 'ben']);
    for (let sent = 1; sent < MAX_MAILBOX_MESSAGES; sent++)
      await teams.send(main, 'ben', { from: MAIN_AGENT, text: 'x' });
    await expect(teams.send(main, EVERYBODY, { from: MAIN_AGENT, text: 'y' })).rejects.toThrow(
      /"ben": 200 messages wait/,
    );
    expect([texts(await ann.read()), texts(await ben.read())]).toEqual([[], Array(MAX_MAILBOX_MESSAGES).fill('x')]);
  });

  it('that was not read waits in a team for the next agent of that name, over a restart too, and goes with its reader', async () => {
    const { teams, main, restarted } = testTeams();
    await teams.create(main, { name: 'crew', description: '' });
    const first = await teams.enter(main, 'ses_1', 'ann');
    await first.leave();
    await teams.send(main, 'ann', { from: MAIN_AGENT, text: 'later' });
    // Read, and killed before its end: whoever comes next has not heard of it.
    expect(texts(await (await teams.enter(main, 'ses_2', 'ann')).read())).toEqual(['later']);
    const second = await restarted().enter(main, 'ses_3', 'ann');
    expect(texts(await second.read())).toEqual(['later']);
    await second.leave();
    expect(texts(await (await restarted().enter(main, 'ses_4', 'ann')).read())).toEqual([]);
  });

  it('for the main agent is handed out once, and kept until its log says so', async () => {
    const { teams, main, restarted } = testTeams();
    await teams.enter(main, 'ses_1', 'ann');
    await teams.send({ ...main, name: 'ann' }, MAIN_AGENT, { from: 'ann', text: 'found it' });
    const [mail] = await teams.takeMain(main, 0);
    expect(mail).toMatchObject({ from: 'ann', text: 'found it' });
    expect(await teams.takeMain(main, 0)).toEqual([]);
    expect(texts(await restarted().takeMain(main, 0))).toEqual(['found it']);
    expect(await restarted().takeMain(main, mail?.version ?? 0)).toEqual([]);
  });

  it('of sessions that are long gone makes room', async () => {
    const { teams, main, store } = testTeams({ sessionDays: 1 });
    const mail = store('owner', 'agent-mail');
    await mail.set(`ses_gone/main/${Date.now() - 3 * 24 * 60 * 60_000}-1-1`, { from: 'x', text: 'old' });
    await teams.enter(main, 'ses_1', 'ann');
    await teams.send(main, 'ann', { from: MAIN_AGENT, text: 'new' });
    expect((await mail.list()).map(({ key }) => key)).toEqual([expect.stringMatching(/^ses_main\/ann\//)]);
  });
});

describe('a team', () => {
  it('is one a session, ends when nobody of it works, and takes its mail with it', async () => {
    const { teams, main, store } = testTeams();
    await teams.create(main, { name: 'crew', description: 'counts' });
    await expect(teams.create(main, { name: 'other', description: '' })).rejects.toThrow(/team already, "crew"/);
    const ann = await teams.enter(main, 'ses_1', 'ann');
    await expect(teams.enter(main, 'ses_2', 'ann')).rejects.toThrow(/works already/);
    await teams.send(main, 'ann', { from: MAIN_AGENT, text: 'x' });
    await expect(teams.delete(main, 'crew')).rejects.toThrow(/"ann" still work/);
    await ann.leave();
    await expect(teams.delete(main, 'cru')).rejects.toThrow(/is "crew"/);
    expect(await teams.delete(main, 'crew')).toMatchObject({ members: ['ann'], description: 'counts' });
    expect(await store('owner', 'agent-mail').list()).toEqual([]);
    expect(await teams.team(main)).toBeUndefined();
  });

  it('has so many members, and no more', async () => {
    const { teams, main } = testTeams();
    await teams.create(main, { name: 'crew', description: '' });
    for (let count = 1; count < MAX_TEAM_MEMBERS; count++)
      await (await teams.enter(main, 'ses_0', `one-${count}`)).leave();
    const ann = await teams.enter(main, 'ses_1', 'ann');
    await expect(teams.enter(main, 'ses_2', 'ben')).rejects.toThrow(/has had 64 agents/);
    expect(teams.working(main)).toEqual(['ann']);
    await ann.leave();
    await (await teams.enter(main, 'ses_3', 'ann')).leave();
  });
});
