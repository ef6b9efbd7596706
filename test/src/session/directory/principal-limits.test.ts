import { expect, test } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from '../../../../config/limits.ts';
import { openSqliteLog } from '../../../../src/log/sqlite-log.ts';
import { SessionDirectory } from '../../../../src/session/directory/session-directory.ts';
import { plainTool } from '../../../helpers/plain-tool.ts';
import { blockOf, execute, sessionServices } from '../../../helpers/session-services.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

/** A directory whose principal "ann" has these limits and one tool that runs until it is let go. */
function limitedSessions(limits: Partial<Limits>) {
  let letGo: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (letGo = resolve));
  const hold = plainTool('Hold', {
    touchesOnlySession: () => true,
    isConcurrencySafe: () => true,
    call: () => released.then(() => ({ data: 'held' })),
  });
  const quick = plainTool('Quick', { touchesOnlySession: () => true, isConcurrencySafe: () => true });
  const log = openSqliteLog({ folder: temporaryFolder(), limits: DEFAULT_LIMITS, durability: 'process' });
  const directory = new SessionDirectory({
    ...sessionServices(log, [hold, quick]),
    limitsOf: (principal) => ({ ...DEFAULT_LIMITS, ...(principal === 'ann' && limits) }),
  });
  return { directory, letGo, end: () => (directory.close(), log.close()) };
}

test('calls of one principal are counted over all its sessions, and others do not notice', async () => {
  const { directory, letGo, end } = limitedSessions({ callsAtOnce: 3 });
  const [one, two] = [await directory.create('ann', {}), await directory.create('ann', {})];
  const running = execute(one, [blockOf('Hold', 'a'), blockOf('Hold', 'b')]);
  const refusal = { code: 'rate_limited', details: { reason: 'calls' } };
  await expect(execute(two, [blockOf('Quick', 'c'), blockOf('Quick', 'd')])).rejects.toMatchObject(refusal);
  expect((await execute(two, [blockOf('Quick', 'e')])).calls).toMatchObject([{ status: 'ok' }]);
  const theirs = await directory.create('bob', {});
  const many = Array.from({ length: 9 }, (_block, index) => blockOf('Quick', `m${index}`));
  expect((await execute(theirs, many)).calls).toHaveLength(9);
  letGo();
  await running;
  expect((await execute(two, [blockOf('Quick', 'c'), blockOf('Quick', 'd')])).calls).toHaveLength(2);
  await end();
});

test('what runs already is not counted again when it is sent again', async () => {
  const { directory, letGo, end } = limitedSessions({ callsAtOnce: 1 });
  const session = await directory.create('ann', {});
  const sent = [execute(session, [blockOf('Hold', 'a')]), execute(session, [blockOf('Hold', 'a')])];
  letGo();
  for (const { calls } of await Promise.all(sent)) expect(calls).toMatchObject([{ status: 'ok' }]);
  await end();
});

test('idle sessions make room for another, sessions in use do not', async () => {
  const { directory, letGo, end } = limitedSessions({ sessionsInUse: 2 });
  const [first, second] = [await directory.create('ann', {}), await directory.create('ann', {})];
  const third = await directory.create('ann', {});
  expect(directory.openCount).toBe(2);
  const running = [execute(second, [blockOf('Hold', 'a')]), execute(third, [blockOf('Hold', 'b')])];
  const refusal = { code: 'rate_limited', details: { reason: 'sessions' } };
  await expect(directory.create('ann', {})).rejects.toMatchObject(refusal);
  await expect(directory.open('ann', first.id)).rejects.toMatchObject(refusal);
  await directory.create('bob', {});
  letGo();
  await Promise.all(running);
  expect((await directory.open('ann', first.id)).id).toBe(first.id);
  await end();
});
