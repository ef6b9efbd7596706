/** Rules about paths, asked about folders that are gone through. */
import { describe, expect, it } from 'vitest';
import { pathRules } from '../../../src/permissions/path-rules.ts';

const folders = new Set(['sub']);
const below = (specs: readonly string[], names: readonly string[]) =>
  pathRules(specs, '/w', 'deny').matchBelow('/w/sub', { names, folders });

describe('a folder that is gone through', () => {
  it.each([
    ['./sub/.env', ['.e*']],
    ['./sub/*.pem', ['key.*']],
    ['./sub/deep/**', ['*']],
    ['./**/secret', ['s?cret']],
    ['.env', ['.[e]nv']],
    ['./sub/ab', ['a[bc']],
    ['//w/sub/sub/x', ['*']],
  ])('may hold what %s is about, for files named %j', (spec, names) => {
    expect(below([spec], names)).toBe(spec);
  });

  it.each([
    ['./other/.env', ['*']],
    ['./sub/.env', ['*.ts']],
    ['./sub/*.pem', ['*.ts']],
    ['//srv/**', ['*']],
    ['./subway/.env', ['*']],
  ])('holds nothing that %s is about, for files named %j', (spec, names) => {
    expect(below([spec], names)).toBeUndefined();
  });

  it('is told of by the one rule of many that is about it', () => {
    const others = Array.from({ length: 500 }, (_, n) => `//srv/${n}/**`);
    expect(below([...others, './sub/.env', ...others], ['.env'])).toBe('./sub/.env');
  });
});

describe('the copies of a repository in worktrees', () => {
  const rules = (spec: string) => pathRules([spec], '/w', 'deny');

  it.each([
    ['./secret/**', '/w/.worktrees/a/secret/key'],
    ['/repo/secret/**', '/w/repo/.worktrees/a/secret/key'],
    ['//w/repo/secret/key', '/w/repo/.worktrees/a/secret/key'],
  ])('are held by %s', (spec, path) => {
    expect(rules(spec).match(path)).toBe(spec);
    expect(rules(spec).match(path.replace('secret', 'other'))).toBeUndefined();
  });

  it('are held where a glob leads there', () => {
    expect(rules('./secret/key').match('/w/.w*/a/secret/key')).toBe('./secret/key');
    expect(rules('./secret/key').matchGlob('/w/.worktrees/a/sec*/key')).toBe('./secret/key');
    expect(rules('./secret/key').match('/w/*/a/secret/key')).toBeUndefined();
  });

  it('are held when the folder of all of them is gone through', () => {
    expect(rules('./secret/key').matchBelow('/w/.worktrees')).toBe('./secret/key');
    expect(rules('./secret/key').matchTree('/w/.worktrees/a')).toBe('./secret/key');
  });

  it('are not allowed by what allows the original', () => {
    expect(pathRules(['./src/**'], '/w', 'allow').match('/w/.worktrees/a/src/file')).toBeUndefined();
  });
});
