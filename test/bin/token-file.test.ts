/** The token file: made once, private, never trusted when others could have touched it. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ensureToken } from '../../bin/token-file.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = temporaryFolder();
let folders = 0;

function tokenFile(): string {
  return join(root, `data-${++folders}`, 'token');
}

describe('the token file', () => {
  it('is made once, private, in a private folder', () => {
    const path = tokenFile();
    const token = ensureToken({ token: undefined, tokenFile: path });
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(lstatSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(path))).toEqual(['token']);
    expect(ensureToken({ token: undefined, tokenFile: path })).toBe(token);
  });

  it('is not made when a token was set by hand', () => {
    const path = tokenFile();
    expect(ensureToken({ token: 'mine', tokenFile: path })).toBe('mine');
    expect(lstatSync(path, { throwIfNoEntry: false })).toBeUndefined();
  });

  it('makes a folder of ours private', () => {
    const path = tokenFile();
    mkdirSync(dirname(path), { mode: 0o755 });
    ensureToken({ token: undefined, tokenFile: path });
    expect(lstatSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  it('leaves a folder alone that many share', () => {
    const path = tokenFile();
    mkdirSync(dirname(path));
    chmodSync(dirname(path), 0o1777);
    expect(() => ensureToken({ token: undefined, tokenFile: path })).toThrow('shared with others');
    expect(lstatSync(dirname(path)).mode & 0o1777).toBe(0o1777);
  });

  it('is refused when others may read it', () => {
    const path = tokenFile();
    mkdirSync(dirname(path), { mode: 0o700 });
    writeFileSync(path, 'known-to-all\n', { mode: 0o644 });
    expect(() => ensureToken({ token: undefined, tokenFile: path })).toThrow('others may read');
  });

  it.each([
    ['a link', (path: string) => symlinkSync('/etc/hostname', path)],
    ['a folder', (path: string) => mkdirSync(path)],
    ['empty', (path: string) => writeFileSync(path, '', { mode: 0o600 })],
  ])('is refused when it is %s', (_title, make) => {
    const path = tokenFile();
    mkdirSync(dirname(path), { mode: 0o700 });
    make(path);
    expect(() => ensureToken({ token: undefined, tokenFile: path })).toThrow('remove it');
  });
});
