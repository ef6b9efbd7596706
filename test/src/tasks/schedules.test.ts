/** Schedules over the real store, with a clock of the test's own. */
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { GauntletError } from '../../../src/base/errors.ts';
import { openSqliteLog } from '../../../src/log/sqlite-log.ts';
import { MAX_SCHEDULES, nextRun, type RunPrompt, Schedules } from '../../../src/tasks/schedules.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { until } from '../../helpers/wire-client.ts';

const HOUR_MS = 3_600_000;
const MIDNIGHT_MS = new Date(2026, 0, 5).getTime();
const given = {
  cron: '0 * * * *',
  prompt: 'look',
  recurring: true,
  durable: true,
  sessionId: 'ses_1',
  cwd: '/w',
  atMost: { mode: 'default', rules: { allow: [], ask: [], deny: [] }, additionalDirectories: [] },
} as const;

/** Schedules of one server, and those of the next. */
function server(run: RunPrompt = () => Promise.resolve('ses_1')) {
  const log = openSqliteLog({ folder: temporaryFolder(), limits: DEFAULT_LIMITS, durability: 'process' });
  afterAll(() => log.close());
  const clock = { ms: MIDNIGHT_MS };
  const runs: {
    readonly id: string;
    readonly principal: string;
    readonly dueAt: string;
    readonly isMissed: boolean;
  }[] = [];
  const faults: string[] = [];
  const made: Schedules[] = [];
  async function start(how: RunPrompt = run, principals: readonly string[] = ['owner']) {
    for (const each of made) each.close();
    const schedules = new Schedules({
      store: log.store,
      now: () => clock.ms,
      onFault: (_error, what) => void faults.push(what),
    });
    made.push(schedules);
    await schedules.start(principals, (principal, schedule, { runId: id, dueAt, isMissed }) => {
      runs.push({ id, principal, dueAt, isMissed });
      return how(principal, schedule, { runId: id, dueAt, isMissed });
    });
    return schedules;
  }
  afterAll(() => made.forEach((each) => each.close()));
  return { start, clock, runs, faults };
}

describe('a pattern', () => {
  it.each(['* * * * * *', '@daily', '61 * * * *', 'a b c d e', '* * * *', ''])(
    '%j is refused, and told how',
    async (cron) => {
      await expect(nextRun(cron, MIDNIGHT_MS)).rejects.toThrow(/Cannot schedule ".*Expected minute, hour/);
    },
  );

  it('that is never due makes no schedule', async () => {
    const schedules = await server().start();
    await expect(schedules.create('owner', { ...given, cron: '0 0 30 2 *' })).rejects.toThrow('never due');
    expect(schedules.list('owner')).toEqual([]);
  });
});

describe('a schedule', () => {
  it('runs each time that it is due', async () => {
    const { start, clock, runs } = server();
    const schedules = await start();
    const { id, nextAt } = await schedules.create('owner', given);
    expect(Date.parse(nextAt)).toBe(MIDNIGHT_MS + HOUR_MS);
    for (const n of [1, 2]) {
      clock.ms = MIDNIGHT_MS + n * HOUR_MS + 1;
      await until(() => Promise.resolve(runs.length === n && schedules.list('owner')[0]?.running === undefined));
      expect(runs.at(-1)).toMatchObject({ id: `${id}_${n}`, isMissed: false });
    }
  });

  it('that runs once is gone after it', async () => {
    const { start, clock, runs } = server();
    const schedules = await start();
    await schedules.create('owner', { ...given, recurring: false });
    clock.ms += HOUR_MS;
    await until(() => Promise.resolve(runs.length === 1 && schedules.list('owner').length === 0));
    const next = await start();
    expect(next.list('owner')).toEqual([]);
  });

  it('is not begun again while it runs, and is due next after its end', async () => {
    let end = (): void => undefined;
    const { start, clock, runs } = server(() => new Promise((resolve) => (end = () => resolve('ses_1'))));
    const schedules = await start();
    await schedules.create('owner', given);
    clock.ms = MIDNIGHT_MS + HOUR_MS;
    await until(() => Promise.resolve(runs.length === 1));
    clock.ms = MIDNIGHT_MS + 3.5 * HOUR_MS;
    end();
    await until(() => Promise.resolve(schedules.list('owner')[0]?.running === undefined));
    expect(Date.parse(schedules.list('owner')[0]?.nextAt ?? '')).toBe(MIDNIGHT_MS + 4 * HOUR_MS);
    expect(runs).toHaveLength(1);
  });

  it('that was deleted while it ran does not come back', async () => {
    let end = (): void => undefined;
    const { start, clock, runs } = server(() => new Promise((resolve) => (end = () => resolve('ses_1'))));
    const schedules = await start();
    const { id } = await schedules.create('owner', given);
    clock.ms += HOUR_MS;
    await until(() => Promise.resolve(runs.length === 1));
    await schedules.delete('owner', id);
    end();
    const next = await start();
    expect([...schedules.list('owner'), ...next.list('owner')]).toEqual([]);
    await expect(next.delete('owner', id)).rejects.toThrow('does not exist. There are none');
  });

  it('waits where too much else runs, and ends where it may not run any more', async () => {
    const refusals = [new GauntletError('overloaded', 'full'), new GauntletError('forbidden', 'no such principal')];
    const { start, clock, runs, faults } = server(() => Promise.reject(refusals.shift() ?? new Error('unexpected')));
    const schedules = await start();
    await schedules.create('owner', given);
    clock.ms += HOUR_MS;
    await until(() => Promise.resolve(faults.length === 1));
    expect(schedules.list('owner')).toMatchObject([{ runs: 0 }]);
    clock.ms += 60_000;
    await until(() => Promise.resolve(schedules.list('owner').length === 0));
    expect(runs.map(({ id }) => id.endsWith('_1'))).toEqual([true, true]);
  });

  it('has a bound on their number', async () => {
    const schedules = await server().start();
    for (let n = 0; n < MAX_SCHEDULES; n += 1) await schedules.create('owner', { ...given, durable: false });
    await expect(schedules.create('owner', given)).rejects.toThrow('Delete one first');
  });

  it('has a bound on their number where many are made at once', async () => {
    const schedules = await server().start();
    const create = () => schedules.create('owner', { ...given, durable: false });
    const made = await Promise.allSettled(Array.from({ length: MAX_SCHEDULES + 5 }, create));
    expect(made.filter(({ status }) => status === 'rejected')).toHaveLength(5);
    expect(schedules.list('owner')).toHaveLength(MAX_SCHEDULES);
  });
});

describe('after a restart', () => {
  it('what is not durable is gone, and what is belongs to its principal', async () => {
    const { start } = server();
    const before = await start(undefined, ['owner', 'ann']);
    await before.create('owner', { ...given, durable: false });
    const { id } = await before.create('ann', given);
    const after = await start(undefined, ['owner', 'ann']);
    expect(after.list('owner')).toEqual([]);
    expect(after.list('ann')).toMatchObject([{ id, prompt: 'look' }]);
    // Nothing of a principal that the settings do not name any more.
    const without = await start(undefined, ['owner']);
    expect(without.list('ann')).toEqual([]);
  });

  it('one that was due meanwhile runs once and says so, and a recurring one waits for its next time', async () => {
    const { start, clock, runs } = server();
    const before = await start();
    const once = await before.create('owner', { ...given, recurring: false });
    const recurring = await before.create('owner', given);
    before.close();
    clock.ms += 2.5 * HOUR_MS;
    const after = await start();
    await until(() => Promise.resolve(after.list('owner').length === 1));
    expect(runs).toEqual([{ id: `${once.id}_1`, principal: 'owner', dueAt: once.nextAt, isMissed: true }]);
    expect(after.list('owner')).toMatchObject([
      { id: recurring.id, nextAt: new Date(MIDNIGHT_MS + 3 * HOUR_MS).toISOString() },
    ]);
    await start();
    expect(runs).toHaveLength(1);
  });

  it('of many that were due meanwhile only a few run at once', async () => {
    const { start, clock, runs } = server(() => new Promise(() => undefined));
    const first = await start();
    for (let made = 0; made < 6; made += 1) await first.create('owner', { ...given, recurring: false });
    first.close();
    clock.ms += 2 * HOUR_MS;
    await start();
    await until(async () => runs.length >= 4);
    expect(runs).toHaveLength(4);
    expect(runs.every(({ isMissed }) => isMissed)).toBe(true);
  });

  it('a run that was cut off is asked for again under the same id', async () => {
    const { start, clock, runs } = server(() => Promise.reject(new GauntletError('shutting_down', 'the server ended')));
    const before = await start();
    const { id } = await before.create('owner', { ...given, recurring: false });
    clock.ms += HOUR_MS;
    await until(() => Promise.resolve(runs.length === 1));
    const after = await start(() => Promise.resolve('ses_1'));
    await until(() => Promise.resolve(after.list('owner').length === 0));
    expect(runs.map((run) => run.id)).toEqual([`${id}_1`, `${id}_1`]);
    expect(runs[1]).toEqual(runs[0]);
  });
});

describe('the bound of a run', () => {
  it('is that of its schedule, none of a call that is no run, and an error of one that was deleted', async () => {
    const schedules = await server().start();
    const { id } = await schedules.create('owner', given);
    expect(schedules.boundOf('owner', `${id}_1`)).toEqual(given.atMost);
    expect(schedules.boundOf('owner', 'toolu_1')).toBeUndefined();
    expect(() => schedules.boundOf('ann', `${id}_1`)).toThrow('was deleted');
  });
});
