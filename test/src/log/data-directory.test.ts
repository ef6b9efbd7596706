/** The data directory: private, with an id that stays, and one server at a time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDataDirectory, type DataDirectory } from '../../../src/log/data-directory.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const root = temporaryFolder();
const holder = new URL('../../fixtures/directory-holder.ts', import.meta.url).pathname;

function newPath(): string {
  return join(mkdtempSync(join(root, 'data-')), 'state', 'gauntlet');
}

function open(path: string, lockMs = 0, signal = new AbortController().signal): Promise<DataDirectory> {
  return openDataDirectory({ path, signal, lockMs });
}

function modeOf(path: string): number {
  return lstatSync(path).mode & 0o777;
}

describe('the data directory', () => {
  it('is made for its owner alone, folders in it too', async () => {
    const path = newPath();
    const directory = await open(path);
    expect([
      modeOf(path),
      modeOf(join(path, 'sessions')),
      modeOf(join(path, 'id')),
      modeOf(join(path, 'lock')),
    ]).toEqual([0o700, 0o700, 0o600, 0o600]);
    directory.close();
  });

  it('keeps its id', async () => {
    const path = newPath();
    const first = await open(path);
    first.close();
    const second = await open(path);
    expect(second.id).toBe(first.id);
    expect(readFileSync(join(path, 'id'), 'utf8').trim()).toMatch(/^[0-9a-f]{32}$/);
    second.close();
  });

  it('is refused, not changed, when it holds an id that is none', async () => {
    const path = newPath();
    mkdirSync(path, { recursive: true, mode: 0o700 });
    writeFileSync(join(path, 'id'), 'mine');
    await expect(open(path)).rejects.toMatchObject({
      code: 'invalid_setting',
      message: expect.stringContaining('Remove it'),
    });
    expect(readFileSync(join(path, 'id'), 'utf8')).toBe('mine');
  });

  it('is closed to others when it is empty or was one before', async () => {
    const path = newPath();
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o755);
    (await open(path)).close();
    expect(modeOf(path)).toBe(0o700);
    chmodSync(path, 0o750);
    (await open(path)).close();
    expect(modeOf(path)).toBe(0o700);
  });

  it('is refused, not closed to others, when it holds something else', async () => {
    const path = newPath();
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o755);
    writeFileSync(join(path, 'thesis.txt'), '');
    await expect(open(path)).rejects.toMatchObject({
      code: 'invalid_setting',
      message: expect.stringContaining('chmod 700'),
    });
    expect(modeOf(path)).toBe(0o755);
  });

  it.each([
    ['a link', (path: string) => symlinkSync(root, path), 'it is a link'],
    ['a file', (path: string) => writeFileSync(path, ''), 'Choose another folder'],
  ])('is refused when it is %s', async (_title, make, why) => {
    const path = join(mkdtempSync(join(root, 'data-')), 'gauntlet');
    make(path);
    await expect(open(path)).rejects.toMatchObject({ code: 'invalid_setting', message: expect.stringContaining(why) });
  });

  it('gives each session a folder and no other path', async () => {
    const directory = await open(newPath());
    expect(directory.sessionFolder('s_1-A')).toBe(join(directory.path, 'sessions', 's_1-A'));
    for (const id of ['', '..', 'a/b', 'a\0', 'x'.repeat(129)])
      expect(() => directory.sessionFolder(id)).toThrow(RangeError);
    directory.close();
  });
});

describe('the lock of the data directory', () => {
  it('turns a second server away and says what to do', async () => {
    const path = newPath();
    const first = await open(path);
    const refusal = {
      code: 'invalid_setting',
      message: expect.stringMatching(/".*gauntlet".*another server.*GAUNTLET_DATA_DIR/),
    };
    await expect(open(path, 50)).rejects.toMatchObject(refusal);
    first.close();
  });

  it('lets a second server in when the first leaves in time', async () => {
    const path = newPath();
    const first = await open(path);
    const second = open(path, 5_000);
    first.close();
    (await second).close();
  });

  it('is not waited for when the signal says so', async () => {
    const path = newPath();
    const first = await open(path);
    const controller = new AbortController();
    const second = open(path, 5_000, controller.signal);
    controller.abort();
    await expect(second).rejects.toThrow('abort');
    first.close();
    (await open(path)).close();
  });

  it('holds between processes and ends with kill -9', async () => {
    const path = newPath();
    const child = spawn(process.execPath, ['--import', 'tsx', holder, path], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    await expect(open(path)).rejects.toMatchObject({ code: 'invalid_setting' });
    child.kill('SIGKILL');
    await exited;
    (await open(path)).close();
  });
});
