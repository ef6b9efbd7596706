/** What sessions of one principal share: seen by all of them, changed by one at a time, and there after a kill. */
import Database from 'libsql';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { isGauntletError } from '../../../src/base/errors.ts';
import type { LogBounds } from '../../../src/log/log-tables.ts';
import type { Tool } from '../../../src/tool/tool.ts';
import type { OpenSharedStore } from '../../../src/log/shared-store.ts';
import { openSqliteLog } from '../../../src/log/sqlite-log.ts';
import { SessionDirectory } from '../../../src/session/directory/session-directory.ts';
import { asAfterKill, newFolder } from '../../helpers/log-folders.ts';
import { plainTool } from '../../helpers/plain-tool.ts';
import { blockOf, execute, sessionServices } from '../../helpers/session-services.ts';

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

function openIn(folder: string, bounds: Partial<LogBounds> = {}) {
  const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, bounds, durability: 'process' });
  closers.push(() => log.close());
  return log;
}

const newStore = (bounds: Partial<LogBounds> = {}) => openIn(newFolder(), bounds).store('ann', 'tasks');

describe('the store of a principal', () => {
  it('gives what was set, with a version that grows', async () => {
    const store = newStore();
    expect(await store.get('a')).toBeUndefined();
    const first = await store.set('a', { text: 'one' });
    const second = await store.set('a', ['two', null, 2.5]);
    expect(second).toBeGreaterThan(first);
    expect(await store.get('a')).toEqual({ key: 'a', value: ['two', null, 2.5], version: second });
  });

  it('lets one of two writers through who saw the same version', async () => {
    const store = newStore();
    const version = await store.set('a', 1, 0);
    const outcomes = await Promise.allSettled([store.set('a', 2, version), store.set('a', 3, version)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    const { version: now = 0 } = (await store.get('a')) ?? {};
    expect(outcomes[1]).toMatchObject({ reason: { code: 'conflict', details: { reason: 'version', version: now } } });
    await expect(store.set('a', 4, 0)).rejects.toMatchObject({ code: 'conflict' });
    await expect(store.delete('a', version)).rejects.toMatchObject({ code: 'conflict' });
    expect(await store.get('a')).toMatchObject({ value: 2 });
  });

  it('gives no version twice, also when the newest entry was removed, and after a restart', async () => {
    const folder = newFolder();
    const log = openIn(folder);
    const store = log.store('ann', 'tasks');
    const version = await store.set('a', 1);
    expect([await store.delete('a'), await store.delete('a')]).toEqual([true, false]);
    await log.close();
    const next = openIn(folder).store('ann', 'tasks');
    expect(await next.set('a', 1, 0)).toBeGreaterThan(version);
    await expect(next.set('a', 2, version)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('lists by prefix, in the order of the keys', async () => {
    const store = newStore();
    for (const key of ['list/b', 'list/a', 'other', 'list', 'LIST/c']) await store.set(key, key);
    const keys = async (prefix?: string) => (await store.list(prefix)).map(({ key }) => key);
    expect(await keys()).toEqual(['LIST/c', 'list', 'list/a', 'list/b', 'other']);
    expect(await keys('list/')).toEqual(['list/a', 'list/b']);
    expect(await keys('%')).toEqual([]);
  });

  it('keeps purposes and principals apart', async () => {
    const { store } = openIn(newFolder());
    await store('ann', 'tasks').set('a', 'tasks of ann');
    expect(await store('ann', 'mailboxes').get('a')).toBeUndefined();
    expect(await store('bob', 'tasks').list()).toEqual([]);
    expect(await store('bob', 'tasks').delete('a')).toBe(false);
    await store('bob', 'tasks').set('a', 'tasks of bob', 0);
    expect(await store('ann', 'tasks').get('a')).toMatchObject({ value: 'tasks of ann' });
  });

  it('refuses what is beyond a limit, names it, and changes nothing', async () => {
    const folder = newFolder();
    const { store: open } = openIn(folder, { sharedEntries: 3, sharedValueBytes: 20, sharedBytes: 40 });
    const store = open('ann', 'tasks');
    const tooMuch = (reason: string) => ({ code: 'resource_exhausted', details: { reason } });
    await expect(store.set('a', 'ü'.repeat(10))).rejects.toMatchObject(tooMuch('value_bytes'));
    await store.set('a', 'x'.repeat(17));
    await open('ann', 'other').set('b', 'x'.repeat(15));
    await expect(store.set('c', 'x')).rejects.toMatchObject(tooMuch('bytes'));
    await store.set('a', 1);
    await store.set('c', 1);
    await expect(store.set('d', 1)).rejects.toMatchObject(tooMuch('entries'));
    await store.delete('c');
    await store.set('d', 1);
    await open('bob', 'tasks').set('a', 'x'.repeat(17));
    expect((await store.list()).map(({ key }) => key)).toEqual(['a', 'd']);
  });

  it('counts what was there before a restart', async () => {
    const folder = newFolder();
    const log = openIn(folder);
    await log.store('ann', 'tasks').set('a', 1);
    await log.close();
    const store = openIn(folder, { sharedEntries: 1 }).store('ann', 'tasks');
    await store.set('a', 2);
    await expect(store.set('b', 1)).rejects.toMatchObject({ code: 'resource_exhausted' });
  });

  it.each([[''], ['with blank'], ['line\nend'], ['ü'], ['x'.repeat(201)]])('refuses %j as a name', async (name) => {
    const { store } = openIn(newFolder());
    await expect(store('ann', 'tasks').set(name, 1)).rejects.toMatchObject({ code: 'invalid_input' });
    expect(() => store('ann', name)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });

  it('says that an entry is damaged, lists the others, and takes a new value for it', async () => {
    const folder = newFolder();
    const before = openIn(folder);
    for (const key of ['a', 'b']) await before.store('ann', 'tasks').set(key, key);
    await before.close();
    const database = new Database(join(folder, 'log.db'));
    database.exec(`UPDATE shared SET value = '"x"' WHERE key = 'a'`);
    database.close();
    const store = openIn(folder).store('ann', 'tasks');
    await expect(store.get('a')).rejects.toMatchObject({ code: 'log_unavailable', details: { reason: 'corrupt' } });
    expect(await store.list()).toMatchObject([{ key: 'b' }]);
    await store.set('a', 'again');
    expect(await store.get('a')).toMatchObject({ value: 'again' });
  });

  it('is closed with the log', async () => {
    const log = openIn(newFolder());
    const store = log.store('ann', 'tasks');
    await log.close();
    await expect(store.get('a')).rejects.toMatchObject({ code: 'shutting_down' });
    await expect(store.set('a', 1)).rejects.toMatchObject({ code: 'shutting_down' });
  });
});

describe('sessions', () => {
  /** Counts its calls for whoever is asking, however many sessions do. Made with the services of its server. */
  function countTool({ store }: { readonly store: OpenSharedStore }): Tool {
    return plainTool('Count', {
      touchesOnlySession: () => true,
      isConcurrencySafe: () => true,
      call: async (_input, { principal }) => {
        const counters = store(principal, 'counters');
        for (;;) {
          const entry = await counters.get('calls');
          const count = Number(entry?.value ?? 0) + 1;
          try {
            await counters.set('calls', count, entry?.version ?? 0);
            return { data: count };
          } catch (error) {
            if (!isGauntletError(error, 'conflict')) throw error;
          }
        }
      },
    });
  }
  function server(folder: string) {
    const log = openIn(folder);
    const services = sessionServices(log, [countTool(log)], { folder });
    const directory = new SessionDirectory(services);
    closers.push(() => directory.close());
    const count = async (principal: string, calls: number) => {
      const session = await directory.create(principal, {});
      const blocks = Array.from({ length: calls }, (_, place) => blockOf('Count', `call-${place}`));
      const { results } = await execute(session, blocks);
      return results.map(({ content }) => Number(content));
    };
    return { count };
  }

  it('of one principal share what a tool keeps, those of another do not, and a kill loses nothing', async () => {
    const folder = newFolder();
    const first = server(folder);
    const numbers = (await Promise.all([first.count('ann', 5), first.count('ann', 5)])).flat();
    expect(numbers.sort((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(await first.count('bob', 1)).toEqual([1]);
    const next = server(asAfterKill(folder));
    expect(await next.count('ann', 1)).toEqual([11]);
    expect(await next.count('bob', 1)).toEqual([2]);
  });
});

describe('after kill -9', () => {
  it('every number that was acknowledged is there, and the next version follows', async () => {
    const folder = newFolder();
    const writer = new URL('../../fixtures/store-writer.ts', import.meta.url).pathname;
    for (const most of [1, 300]) {
      const child = spawn(process.execPath, ['--import', 'tsx', writer, folder, 'ann'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exited = once(child, 'exit');
      let acknowledged = 0;
      for await (const line of createInterface(child.stdout)) {
        acknowledged = Number(line);
        if (acknowledged === most) child.kill('SIGKILL');
      }
      await exited;
      const log = openIn(folder);
      const { value, version = 0 } = (await log.store('ann', 'counters').get('count')) ?? {};
      expect((value as { count: number }).count).toBeGreaterThanOrEqual(acknowledged);
      expect(await log.store('ann', 'other').set('a', 1)).toBeGreaterThan(version);
      expect(await log.store('bob', 'counters').list()).toEqual([]);
      await log.close();
    }
  });
});
