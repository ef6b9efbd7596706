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
