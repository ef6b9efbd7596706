import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withCheckedFile } from '../../../src/files/open-checked.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const folder = temporaryFolder();
const read = (path: string) => withCheckedFile(path, path, async (file) => (await file.readWhole(1_000)).toString());

describe('opening a file that was located', () => {
  it('reads what is there', async () => {
    writeFileSync(join(folder, 'plain'), 'content');
    expect(await read(join(folder, 'plain'))).toBe('content');
  });

  it('a link in its place is not followed', async () => {
    symlinkSync('/etc/passwd', join(folder, 'link'));
    await expect(read(join(folder, 'link'))).rejects.toMatchObject({
      code: 'tool_failed',
      details: { reason: 'eloop' },
    });
  });

  it('a folder on the way that became a link is found out', async () => {
    mkdirSync(join(folder, 'elsewhere'));
    writeFileSync(join(folder, 'elsewhere/file'), 'outside');
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'parent'));
    await expect(read(join(folder, 'parent/file'))).rejects.toMatchObject({ details: { reason: 'moved' } });
  });

  it('a pipe without a writer is refused at once', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await expect(read(join(folder, 'pipe'))).rejects.toThrow('not a regular file');
  });

  it.each(['/dev/zero', '/dev/null'])('the device %s is refused', async (path) => {
    await expect(read(path)).rejects.toThrow('not a regular file');
  });

  it('a folder is refused by name', async () => {
    await expect(read(folder)).rejects.toMatchObject({ details: { reason: 'eisdir' } });
  });

  it('a file that grows is read to where it ended', async () => {
    const path = join(folder, 'log');
    writeFileSync(path, 'seen');
    const text = await withCheckedFile(path, path, async (file) => {
      appendFileSync(path, ' and more');
      return (await file.readWhole(1_000)).toString();
    });
    expect(text).toBe('seen');
  });

  it('no descriptor stays open after a refusal', async () => {
    const before = execFileSync('ls', ['/proc/' + process.pid + '/fd'])
      .toString()
      .split('\n').length;
    for (let times = 0; times < 50; times++) await read(join(folder, 'pipe')).catch(() => undefined);
    const after = execFileSync('ls', ['/proc/' + process.pid + '/fd'])
      .toString()
      .split('\n').length;
    expect(after - before).toBeLessThan(10);
  });

  it('what was renamed away after it was opened is still the same file', async () => {
    const path = join(folder, 'moving');
    writeFileSync(path, 'first');
    const text = await withCheckedFile(path, path, async (file) => {
      renameSync(path, join(folder, 'moved'));
      writeFileSync(path, 'second');
      return (await file.readWhole(1_000)).toString();
    });
    expect(text).toBe('first');
  });
});
