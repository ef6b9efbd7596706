/** An output of any size: text in bounds, exact bytes on disk. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type BoundedOutputOptions, createBoundedOutput } from '../../../src/process/bounded-output.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

describe('a bounded output', () => {
  const folder = temporaryFolder();
  const limits = { spillBytes: 6_000_000 };

  function output(changes: Partial<BoundedOutputOptions> = {}) {
    const path = join(folder, randomBytes(4).toString('hex'), 'call.output');
    const kept = createBoundedOutput({ limits, path, onLimit: () => undefined, ...changes });
    return { path, ...kept };
  }

  it('keeps both streams in one text as they came, and no file', async () => {
    const { take, finish, path } = output();
    void take('stdout', Buffer.from('a\n'));
    void take('stderr', Buffer.from('b\n'));
    void take('stdout', Buffer.from('c\n'));
    expect(await finish()).toEqual({ head: 'a\nb\nc\n', tail: '', omittedChars: 0, totalChars: 6, totalBytes: 6 });
    expect(existsSync(path)).toBe(false);
  });

  it('joins a character whose bytes came apart', async () => {
    const { take, finish } = output();
    const [first, second] = Buffer.from('é');
    void take('stdout', Buffer.from([first as number]));
    void take('stderr', Buffer.from('!'));
    void take('stdout', Buffer.from([second as number]));
    expect((await finish()).head).toBe('!é');
  });

  it('shows bytes that are no text as replacement characters', async () => {
    const { take, finish } = output();
    void take('stdout', Buffer.from([0xff, 0xfe, 0x00, 0xc3]));
    expect((await finish()).head).toBe('\ufffd\ufffd\0\ufffd');
  });

  it('writes every byte of a long output to a private file', async () => {
    const { take, finish, path } = output();
    const bytes = randomBytes(5_000_000);
    for (let at = 0; at < bytes.length; at += 77_777)
      await take(at % 2 === 0 ? 'stdout' : 'stderr', bytes.subarray(at, at + 77_777));
    expect(await finish()).toMatchObject({ path, totalBytes: 5_000_000 });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  it('stops at its limit and says so once', async () => {
    let told = 0;
    const { take, finish, path } = output({ onLimit: () => (told += 1) });
    for (let chunk = 0; chunk < 20; chunk += 1) await take('stdout', Buffer.alloc(500_000, 'x'));
    const end = await finish();
    expect(told).toBe(1);
    expect(statSync(path).size).toBe(limits.spillBytes);
    expect(end.totalChars).toBe(limits.spillBytes);
  });

  it('keeps head and tail when the disk refuses', async () => {
    const { take, finish } = output({ path: '/dev/null/nowhere/call.output' });
    for (let chunk = 0; chunk < 9; chunk += 1) await take('stdout', Buffer.from(`${chunk}`.repeat(500_000)));
    const end = await finish();
    expect(end).toMatchObject({ failureCode: 'ENOTDIR', head: '0'.repeat(1_000), tail: '8'.repeat(1_000) });
    expect(end).not.toHaveProperty('path');
  });

  it('tells each piece of text as it comes', async () => {
    const told: string[] = [];
    const { take, finish } = output({ onText: (stream, text) => told.push(`${stream}:${text}`) });
    void take('stderr', Buffer.from('one'));
    void take('stdout', Buffer.from('two'));
    await finish();
    expect(told).toEqual(['stderr:one', 'stdout:two']);
  });
});
