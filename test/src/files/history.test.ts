/** Bytes are kept once each, within bounds, and are given back only if they are still the same. */
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256Of } from '../../../src/files/file-state.ts';
import { createFileHistory } from '../../../src/files/history.ts';
import { keepFile } from '../../../src/files/keep-file.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

describe('the file history', () => {
  const root = temporaryFolder();
  const limits = { historySessionBytes: 150 };
  const open = () =>
    createFileHistory({ folder: (sessionId) => join(root, 'history', sessionId), limits, maxFileBytes: 100 });
  const folder = (sessionId: string) => join(root, 'history', sessionId);
  const bytes = (letter: string, count: number) => Buffer.from(letter.repeat(count));

  it('keeps equal contents once, for its owner alone', async () => {
    const history = open();
    const content = bytes('a', 10);
    for (const _time of [1, 2]) expect(await history.keep('one', content, sha256Of(content))).toBeUndefined();
    expect(readdirSync(folder('one'))).toEqual([sha256Of(content)]);
    expect(statSync(folder('one')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder('one'), sha256Of(content))).mode & 0o777).toBe(0o600);
    expect(await history.read('one', sha256Of(content))).toEqual(content);
    expect(await history.read('other', sha256Of(content))).toBeUndefined();
  });

  it('says why it does not keep what is too large, by itself or with the rest', async () => {
    const history = open();
    const keep = (content: Buffer) => history.keep('full', content, sha256Of(content));
    expect(await keep(bytes('a', 101))).toBe('too_large');
    expect(await keep(bytes('a', 100))).toBeUndefined();
    expect(await keep(bytes('b', 51))).toBe('history_full');
    expect(await open().keep('full', bytes('c', 51), sha256Of(bytes('c', 51)))).toBe('history_full');
    expect(await keep(bytes('d', 50))).toBeUndefined();
  });

  it('gives back nothing that is damaged', async () => {
    const history = open();
    const content = bytes('a', 10);
    await history.keep('damaged', content, sha256Of(content));
    writeFileSync(join(folder('damaged'), sha256Of(content)), 'other');
    expect(await history.read('damaged', sha256Of(content))).toBeUndefined();
  });

  it('goes on without keeping where the disk refuses', async () => {
    writeFileSync(folder('refused'), 'no folder');
    const content = bytes('a', 10);
    expect(await open().keep('refused', content, sha256Of(content))).toBe('disk_error');
  });

  it('forgets a session', async () => {
    const history = open();
    const content = bytes('a', 10);
    await history.keep('gone', content, sha256Of(content));
    await history.remove('gone');
    expect(history.has('gone', sha256Of(content))).toBe(false);
    expect(readdirSync(join(root, 'history'))).not.toContain('gone');
  });

  it('keeps a file as it stands, and says what it is', async () => {
    const path = join(root, 'file');
    writeFileSync(path, 'content');
    chmodSync(path, 0o750);
    const history = open();
    const sha256 = sha256Of(Buffer.from('content'));
    expect(await keepFile(history, 'file', path)).toMatchObject({ state: { sha256, size_bytes: 7, mode: '0750' } });
    expect(history.has('file', sha256)).toBe(true);
    expect(await keepFile(history, 'file', join(root, 'nothing'))).toEqual({});
    mkdirSync(join(root, 'folder'));
    expect(await keepFile(history, 'file', join(root, 'folder'))).toMatchObject({ reason: 'not_foreseen' });
  });
});
