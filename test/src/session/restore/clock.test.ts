/** F09: the clock on the wall may jump; what runs, waits and is kept does not. */
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../config/limits.ts';
import { openSqliteLog } from '../../../../src/log/sqlite-log.ts';
import { Retention } from '../../../../src/session/directory/retention.ts';
import { SessionDirectory } from '../../../../src/session/directory/session-directory.ts';
import { effectTool, noteTool } from '../../../helpers/fake-tools.ts';
import { blockOf, execute, framesOf, question, sessionServices } from '../../../helpers/session-services.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const DAY_MS = 86_400_000;
const folder = temporaryFolder();
const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, durability: 'process' });
const services = sessionServices(log, [noteTool(), effectTool().tool], { folder });
const directory = new SessionDirectory(services);
afterEach(() => void vi.useRealTimers());
afterAll(async () => {
  await directory.close();
  await log.close();
});

/** Set the clock on the wall; timers and the monotonic clock go on. */
function jump(days: number): void {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: now + days * DAY_MS });
}

describe('a clock that jumps', () => {
  it.each([1, -1])('by %s days changes no seq and no order, and results come as ever', async (days) => {
    const session = await directory.create('owner', {});
    await execute(session, [blockOf('Note', 'a')]);
    jump(days);
    const { calls } = await execute(session, [blockOf('Note', 'b')]);
    expect(calls[0]?.status).toBe('ok');
    expect(calls[0]?.duration_ms).toBeLessThan(1_000);
    const seqs = (await framesOf(session)).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, place) => place + 1));
  });

  it('ahead lets no open question expire', async () => {
    const session = await directory.create('owner', {});
    await session.submit({ blocks: [blockOf('Effect', 'a')], onAsk: 'wait' });
    const { request_id } = await question(session);
    jump(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(session.prompts()).toHaveLength(1);
    expect(await session.answer(request_id, { behavior: 'allow' }, 'owner')).toMatchObject({ behavior: 'allow' });
  });

  it('ahead makes nothing old', async () => {
    const { id } = await directory.create('owner', {});
    const retention = new Retention({
      ...services,
      saveAll: () => directory.saveAll(),
      settle: (principal, sessionId) => directory.settle(principal, sessionId),
      retire: (sessionId) => directory.retire(sessionId),
      folderSizes: () => Promise.resolve(new Map()),
    });
    jump(365);
    await retention.look();
    await retention.close();
    expect(await directory.open('owner', id)).toBeDefined();
    expect(services.faults).toEqual([]);
  });
});
