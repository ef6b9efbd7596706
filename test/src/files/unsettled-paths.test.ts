import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, renameSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { unsettledPaths as unsettledPathsOf } from '../../../src/files/unsettled-paths.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { until } from '../../helpers/wire-client.ts';

/** As on a file system with a clock of this machine, whichever the tests run on. */
const unsettledPaths = (files: readonly string[], sinceMs: number) => unsettledPathsOf(files, sinceMs, 0);

/** A folder with a file two folders down, and a moment after all of it was made. */
async function settledTree() {
  const root = temporaryFolder();
  const file = join(root, 'above/folder/file.txt');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'inside');
  mkdirSync(join(root, 'outside'));
  return { root, file, sinceMs: await nextTick(file) };
}

/** When the kernel dates what happens from now on, and nothing that has happened to the file. */
async function nextTick(file: string): Promise<number> {
  const { ctimeMs } = lstatSync(dirname(file));
  const folder = temporaryFolder();
  return until(async () => {
    writeFileSync(join(folder, randomUUID()), '');
    const now = lstatSync(folder).ctimeMs;
    return now > ctimeMs && now;
  });
}

const isKept = [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630].includes(statfsSync(temporaryFolder()).type);

it.runIf(isKept)('what nobody renamed led nowhere else', async () => {
  const { file, sinceMs } = await settledTree();
  writeFileSync(file, 'other words');
  expect(unsettledPaths([file], sinceMs)).toEqual([]);
});

it('a file of a folder in which a name was made meanwhile may be another', async () => {
  const { file, sinceMs } = await settledTree();
  writeFileSync(`${file}.new`, '');
  expect(unsettledPaths([file], sinceMs)).toEqual([file]);
});

it('a folder that was a link meanwhile is told although it is back', async () => {
  const { root, file, sinceMs } = await settledTree();
  renameSync(join(root, 'above'), join(root, 'aside'));
  symlinkSync('outside', join(root, 'above'));
  renameSync(join(root, 'above'), join(root, 'link'));
  renameSync(join(root, 'aside'), join(root, 'above'));
  expect(unsettledPaths([file], sinceMs)).toEqual([file]);
});

it('what lies behind a link is never settled', async () => {
  const { root, file } = await settledTree();
  symlinkSync(join(root, 'above'), join(root, 'link'));
  expect(unsettledPaths([file.replace('/above/', '/link/')], Infinity)).toHaveLength(1);
});

it.runIf(isKept)('a busy folder that holds a quiet one does not matter', async () => {
  const { root, file, sinceMs } = await settledTree();
  expect(dirname(temporaryFolder())).toBe(dirname(root));
  expect(lstatSync(dirname(root)).ctimeMs).toBeGreaterThanOrEqual(sinceMs);
  expect(unsettledPaths([file], sinceMs)).toEqual([]);
});

it('where nothing is, nothing can be said', () => {
  expect(unsettledPaths(['/no/such/file'], Infinity)).toEqual(['/no/such/file']);
});
