/** The beginning of a JSON object, closed where it breaks off. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePartialObject } from '../../../../src/session/feed/partial-json.ts';
import { cpuMs } from '../../../helpers/cpu-time.ts';

const read = parsePartialObject;

describe('parsePartialObject', () => {
  it.each([
    ['', {}],
    ['{', {}],
    ['{"pa', {}],
    ['{"path"', {}],
    ['{"path":', {}],
    ['{"path":"src/a', { path: 'src/a' }],
    ['{"path":"a","n":1', { path: 'a', n: 1 }],
    ['{"path":"a","n":tru', { path: 'a' }],
    ['{"path":"a","n":-', { path: 'a' }],
    ['{"path":"a",  ', { path: 'a' }],
    ['{"t":"a\\', { t: 'a' }],
    ['{"t":"a\\u00e', { t: 'a' }],
    ['{"t":"a\\\\', { t: 'a\\' }],
    ['{"t":"a\\"b', { t: 'a"b' }],
    ['{"list":[1,{"a":[tru', { list: [1, { a: [] }] }],
    ['{"a":{"b":"}"},"c":[', { a: { b: '}' }, c: [] }],
    ['{"a":1}', { a: 1 }],
    ['{"a":1}}', {}],
    ['[1,2', {}],
    ['"text', {}],
    ['nonsense', {}],
  ])('reads %j', (text, value) => {
    expect(read(text)).toEqual(value);
  });

  it('reads every prefix of every object, and the whole as JSON does', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }), (value) => {
        const text = JSON.stringify(value);
        for (let end = 0; end <= text.length; end++) expect(typeof read(text.slice(0, end))).toBe('object');
        const isOrdinary = !text.includes('__proto__');
        if (isOrdinary) expect(read(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 200 },
    );
  });

  it('never loses a member that it had, as the text grows', () => {
    const text = JSON.stringify({
      path: 'a\n"b"',
      edits: [{ old: 'x', new: 'é😀' }, { old: 'y' }],
      all: true,
      n: -1.5e3,
    });
    let members = 0;
    for (let end = 0; end <= text.length; end++) {
      const now = Object.keys(read(text.slice(0, end))).length;
      expect(now).toBeGreaterThanOrEqual(members);
      members = now;
    }
    expect(members).toBe(4);
  });

  it('cuts long strings without splitting a character', () => {
    expect(read(JSON.stringify({ t: `${'x'.repeat(1_999)}😀` }))).toEqual({ t: `${'x'.repeat(1_999)}…` });
  });

  it('reads nothing of what is nested too deep or reaches a prototype', () => {
    expect(read(`{"a":${'['.repeat(1_000_000)}`)).toEqual({});
    expect(read('{"__proto__":{"a":1}')).toEqual({});
  });

  it.each([
    ['blanks', `{"a":1,${' '.repeat(1_000_000)}x`],
    ['escapes', `{"a":"${'\\\\'.repeat(500_000)}x\\`],
    ['commas', `{"a":1${','.repeat(1_000_000)}x`],
  ])('takes a million %s in one step', (_what, text) => {
    expect(cpuMs(() => read(text))).toBeLessThan(500);
  });
});
