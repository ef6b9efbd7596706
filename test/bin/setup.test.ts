/** Setup: what a fresh clone lacks is done once, and nothing when nothing is lacking. */
import { cpSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { sourceDigest, writeBuildStamp } from '../../bin/build-stamp.mjs';
import { setup } from '../../bin/setup.mjs';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const folder = temporaryFolder();
let clones = 0;
let root: string;
let started: string[];
const say = () => undefined;

/** Stands for npm and esbuild: leaves what they leave. */
function run(file: string, args: string[]): void {
  started.push([file, ...args].join(' '));
  if (args.includes('ci')) installed('1.0.0');
  if (args.some((word) => word.endsWith('build.mjs'))) built();
}

function installed(version: string): void {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(join(root, 'node_modules/.package-lock.json'), JSON.stringify(lock(version)));
}

function built(): void {
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeBuildStamp(root, sourceDigest(root));
}

function fail(why: string): never {
  throw new Error(why);
}

function lock(version: string) {
  return { packages: { '': {}, 'node_modules/a': { version }, 'node_modules/b': { version, optional: true } } };
}

beforeEach(() => {
  root = join(folder, `clone-${++clones}`);
  started = [];
  mkdirSync(join(root, 'src'), { recursive: true });
  writeFileSync(join(root, 'src/a.ts'), '');
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lock('1.0.0')));
});

describe('setup', () => {
  it('installs and builds a fresh clone, once', async () => {
    expect(await setup({ root, run, say })).toEqual(['install', 'build']);
    expect(started).toHaveLength(2);
    expect(await setup({ root, run, say })).toEqual([]);
    expect(started).toHaveLength(2);
  });

  it('leaves the packages of another clone alone where "node_modules" is a link to them', async () => {
    const others = join(folder, 'others');
    mkdirSync(others, { recursive: true });
    writeFileSync(join(others, 'kept'), '');
    symlinkSync(others, join(root, 'node_modules'));
    expect(await setup({ root, run, say })).toEqual(['install', 'build']);
    expect([readdirSync(others), lstatSync(join(root, 'node_modules')).isDirectory()]).toEqual([['kept'], true]);
  });

  it('takes what was installed by hand', async () => {
    installed('1.0.0');
    expect(await setup({ root, run, say })).toEqual(['build']);
  });

  it('installs again when the lock file asks for another version', async () => {
    installed('0.9.0');
    built();
    expect(await setup({ root, run, say })).toEqual(['install']);
  });

  it.each([
    ['written', () => writeFileSync(join(root, 'src/a.ts'), 'x')],
    ['touched', () => utimesSync(join(root, 'src/a.ts'), 1, 1)],
    ['added', () => writeFileSync(join(root, 'src/b.ts'), '')],
    ['removed', () => rmSync(join(root, 'src/a.ts'))],
  ])('builds again when a source is %s', async (_what, change) => {
    installed('1.0.0');
    built();
    change();
    expect(await setup({ root, run, say })).toEqual(['build']);
  });

  it('does everything once when two start at once', async () => {
    const done = await Promise.all([setup({ root, run, say }), setup({ root, run, say })]);
    expect(done.flat().sort()).toEqual(['build', 'install']);
  });

  it('passes by the lock of a setup that was killed', async () => {
    writeFileSync(join(root, '.setup.lock'), String(2 ** 30));
    expect(await setup({ root, run, say })).toEqual(['install', 'build']);
  });

  it('frees its lock when a step fails, and tells', async () => {
    await expect(setup({ root, run: () => fail('no network'), say })).rejects.toThrow('no network');
    expect(await setup({ root, run, say })).toEqual(['install', 'build']);
  });

  describe('with programs that the tests drive', () => {
    const bare = { searchPath: '', mayInstall: true, isCi: false };
    let said: string[];
    const options = () => ({ root, programs: true, run, say: (what: string) => void said.push(what) });

    beforeEach(() => {
      said = [];
      installed('1.0.0');
      built();
    });

    it('names what it installs on the system before it does', async () => {
      const order: string[] = [];
      const say = (what: string) => void order.push(what);
      const log = (file: string, args: string[]) => void order.push([file, ...args].join(' '));
      await setup({ root, programs: true, system: bare, run: log, say });
      expect(order.slice(0, 3)).toEqual([
        expect.stringContaining('chromium, bubblewrap, python3 on this system: apt-get install'),
        'apt-get update -qq',
        'apt-get -qq install -y --no-install-recommends chromium bubblewrap python3',
      ]);
    });

    it.each([
      ['it may not', { ...bare, mayInstall: false }, run],
      ['there is no network', bare, () => fail('no network')],
    ])('says that the browser is not tested, and how it would be, where %s', async (_why, system, run) => {
      await setup({ ...options(), system, run });
      expect(said).toContainEqual(
        "chromium is missing: the browser's tests are skipped. " +
          'To add it: sudo apt-get install -y --no-install-recommends chromium',
      );
    });

    it('says that these tests fail in continuous integration', async () => {
      await setup({ ...options(), system: { ...bare, mayInstall: false, isCi: true } });
      expect(said).toContainEqual(expect.stringContaining('chromium is missing: tests that need it will fail'));
    });

    it('says nothing where they are there', async () => {
      for (const name of ['chromium', 'bwrap', 'python3']) writeFileSync(join(root, name), '');
      expect(await setup({ ...options(), system: { ...bare, searchPath: root } })).toEqual([]);
      expect(said).toEqual([]);
    });
  });

  it('runs a copy of the real clone without a word when all is there', async () => {
    for (const name of ['package-lock.json', 'package.json']) cpSync(name, join(root, name));
    mkdirSync(join(root, 'node_modules'));
    cpSync('node_modules/.package-lock.json', join(root, 'node_modules/.package-lock.json'));
    built();
    expect(await setup({ root, forTests: true, programs: false, run, say })).toEqual([]);
  });
});
