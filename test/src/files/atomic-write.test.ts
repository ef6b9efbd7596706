import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AtomicWrite, atomicWrite } from '../../../src/files/atomic-write.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const write = (real: string, content: string, changes: Partial<AtomicWrite> = {}) =>
  atomicWrite({ real, spelled: real, content, expected: 'any', isDurable: false, ...changes });

describe('writing a file', () => {
  it('makes missing parents and leaves nothing else behind', async () => {
    const folder = temporaryFolder();
    await write(join(folder, 'a/b/c.txt'), 'content');
    expect(readFileSync(join(folder, 'a/b/c.txt'), 'utf8')).toBe('content');
    expect(readdirSync(join(folder, 'a/b'))).toEqual(['c.txt']);
  });

  it('keeps the mode and drops setuid and setgid', async () => {
    const path = join(temporaryFolder(), 'tool');
    writeFileSync(path, 'old');
    chmodSync(path, 0o6751);
    await write(path, 'new');
    expect(statSync(path).mode & 0o7777).toBe(0o751);
  });

  it('keeps the owner', async () => {
    const path = join(temporaryFolder(), 'owned');
    writeFileSync(path, 'old');
    const before = statSync(path);
    await write(path, 'new');
    expect([statSync(path).uid, statSync(path).gid]).toEqual([before.uid, before.gid]);
  });

  it('is refused where a link took the parent’s place', async () => {
    const folder = temporaryFolder();
    const outside = temporaryFolder();
    symlinkSync(outside, join(folder, 'parent'));
    await expect(write(join(folder, 'parent/x'), 'content')).rejects.toMatchObject({ code: 'tool_failed' });
    expect(readdirSync(outside)).toEqual([]);
  });

  it('never lands outside while a parent is swapped for a link', async () => {
    const folder = temporaryFolder();
    const outside = temporaryFolder();
    mkdirSync(join(folder, 'parent'));
    let isOver = false;
    const swapping = (async () => {
      while (!isOver) {
        renameSync(join(folder, 'parent'), join(folder, 'aside'));
        symlinkSync(outside, join(folder, 'parent'));
        await new Promise(setImmediate);
        rmSync(join(folder, 'parent'));
        renameSync(join(folder, 'aside'), join(folder, 'parent'));
        await new Promise(setImmediate);
      }
    })();
    for (let times = 0; times < 300; times++) await write(join(folder, 'parent/x'), 'content').catch(() => undefined);
    isOver = true;
    await swapping;
    expect(readdirSync(outside)).toEqual([]);
  });

  it('replaces a link that took the target’s place by nothing', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'victim'), 'untouched');
    symlinkSync(join(folder, 'victim'), join(folder, 'x'));
    await expect(write(join(folder, 'x'), 'content')).rejects.toThrow('not a regular file');
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('untouched');
  });

  it('is refused when the file is not the one that was read', async () => {
    const path = join(temporaryFolder(), 'x');
    writeFileSync(path, 'read');
    const expected = lstatSync(path);
    writeFileSync(path, 'changed since');
    await expect(write(path, 'mine', { expected })).rejects.toMatchObject({ details: { reason: 'changed' } });
    expect(readFileSync(path, 'utf8')).toBe('changed since');
  });

  it('is refused when a new file is there already', async () => {
    const path = join(temporaryFolder(), 'x');
    writeFileSync(path, 'theirs');
    await expect(write(path, 'mine', { expected: 'absent' })).rejects.toMatchObject({ details: { reason: 'exists' } });
  });

  it('to a folder is refused', async () => {
    await expect(write(temporaryFolder(), 'content')).rejects.toThrow('it is a folder');
  });
});
