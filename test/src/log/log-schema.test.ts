/** Files of earlier and later versions: the former become today's in one step, the latter are refused. */
import Database from 'libsql';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asAfterKill, framesOf, newFolder, openLog } from '../../helpers/log-folders.ts';
import { noticeFrame, openedFrame } from '../../helpers/new-frames.ts';
import { OLD_EPOCH, writeLogOfSchema1, writeLogOfSchema2 } from '../../helpers/old-log.ts';

const frames = [openedFrame('s', 'me'), noticeFrame('one'), noticeFrame('two')];

function schemaOf(folder: string): unknown {
  const database = new Database(join(folder, 'log.db'));
  const [row] = database.prepare('PRAGMA user_version').all() as readonly object[];
  database.close();
  return { ...row };
}

describe('a log of schema 1', () => {
  it('keeps epoch and frames, and takes everything a new one does', async () => {
    const folder = newFolder();
    writeLogOfSchema1(folder, { id: 's', principal: 'me', frames });
    const { log, problems } = openLog(folder);
    expect([log.epoch, problems]).toEqual([OLD_EPOCH, []]);
    expect((await framesOf(log, 's')).map(({ frame }) => frame)).toMatchObject(frames);
    expect(await log.append('s', 3, [noticeFrame('three')])).toBe(4);
    await log.save('s', { snapshot: { seq: 4, state: { is: 'new' } }, facts: [['a', 1]] });
    await log.trim('s', { olderThan: '2026-06-01T00:00:00.000Z', bytes: 0 });
    expect(log.find('s')).toMatchObject({ bounds: { first: 4, head: 4 }, snapshot: { seq: 4 } });
    await log.close();
    expect(schemaOf(folder)).toMatchObject({ user_version: 3 });
    expect(readdirSync(folder).filter((name) => name.includes('damaged'))).toEqual([]);
  });

  it('is left as it was when the step fails', () => {
    const folder = newFolder();
    writeLogOfSchema1(folder, { id: 's', principal: 'me', frames });
    const database = new Database(join(folder, 'log.db'));
    // The second table of the step is there already, so the first must go again.
    database.exec('CREATE TABLE facts (other)');
    database.close();
    const { problems } = openLog(folder);
    const aside = problems.find(({ code }) => code === 'database_set_aside')?.path ?? '';
    // A copy: the file itself stays locked until the native part lets go of it.
    const kept = new Database(join(asAfterKill(folder), basename(aside)));
    const [version] = kept.prepare('PRAGMA user_version').all();
    expect({ ...(version as object) }).toMatchObject({ user_version: 1 });
    expect(kept.prepare('SELECT count(*) AS count FROM rows').get()).toMatchObject({ count: 3 });
    expect(() => kept.prepare('SELECT * FROM snapshots')).toThrow('no such table');
    kept.close();
  });
});

describe('a log of schema 2', () => {
  it('keeps frames and snapshots, and has a shared store from then on', async () => {
    const folder = newFolder();
    writeLogOfSchema2(folder, { id: 's', principal: 'me', frames });
    const { log, problems } = openLog(folder);
    expect([log.epoch, problems]).toEqual([OLD_EPOCH, []]);
    expect((await framesOf(log, 's')).map(({ frame }) => frame)).toMatchObject(frames);
    expect(log.find('s')).toMatchObject({ snapshot: { seq: 3, state: { opened: frames[0] } } });
    expect(await log.store('me', 'tasks').list()).toEqual([]);
    await log.store('me', 'tasks').set('a', 1);
    await log.close();
    expect(schemaOf(folder)).toMatchObject({ user_version: 3 });
  });
});
