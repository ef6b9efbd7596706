/** What a model reads when its input does not fit. */
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { validationErrorText } from '../../../src/call/parse.ts';

function lines(schema: z.ZodType, input: unknown): readonly string[] {
  const parsed = schema.safeParse(input);
  if (parsed.success) throw new Error('It fits');
  return validationErrorText('Edit', parsed.error.issues).split('\n').slice(1);
}

describe('validationErrorText', () => {
  it('begins with its name, the tool and the number of issues', () => {
    const { error } = z.strictObject({ a: z.string(), b: z.string() }).safeParse({});
    expect(validationErrorText('Edit', error?.issues ?? [])).toMatch(
      /^InputValidationError: Edit cannot run, its input has 2 issues\n/,
    );
  });

  it('stays short, whatever fields were made up', () => {
    const keys = Array.from({ length: 300_000 }, (_, index) => [`key${index}`, 1]);
    const [line = ''] = lines(z.strictObject({}), Object.fromEntries(keys));
    expect(line).toMatch(/^- \(input\): unknown fields `key0`, .*`key19` and 299980 more; remove them$/);
    expect(lines(z.strictObject({}), { ['k'.repeat(1_000_000)]: 1 }).join('').length).toBeLessThan(2_000);
  });

  it.each([
    ['a missing field', z.strictObject({ path: z.string() }), {}, '- `path`: required, expected string'],
    [
      'a wrong type',
      z.strictObject({ path: z.string() }),
      { path: 7 },
      '- `path`: Invalid input: expected string, received number',
    ],
    ['an unknown field', z.strictObject({}), { pth: 1 }, '- (input): unknown field `pth`; remove it'],
    ['unknown fields', z.strictObject({}), { a: 1, b: 2 }, '- (input): unknown fields `a`, `b`; remove them'],
    [
      'a place in a list',
      z.strictObject({ edits: z.array(z.strictObject({ old: z.string() })) }),
      { edits: [{ old: 'x' }, { old: 1 }] },
      '- `edits[1].old`: Invalid input: expected string, received number',
    ],
    [
      'too small a number',
      z.strictObject({ n: z.int().min(1) }),
      { n: 0 },
      '- `n`: Too small: expected number to be >=1',
    ],
    [
      'too long a text',
      z.strictObject({ t: z.string().max(2) }),
      { t: 'abc' },
      '- `t`: Too big: expected string to have <=2 characters',
    ],
    [
      'a value outside a choice',
      z.strictObject({ m: z.enum(['on', 'off']) }),
      { m: 'no' },
      '- `m`: Invalid option: expected one of "on"|"off"',
    ],
    ['a wrong format', z.strictObject({ u: z.url() }), { u: 'nowhere' }, '- `u`: Invalid URL'],
    [
      'a rule of the tool',
      z.strictObject({ t: z.string().refine((t) => t !== 'x', 'must not be "x"') }),
      { t: 'x' },
      '- `t`: must not be "x"',
    ],
    [
      'what is no object',
      z.strictObject({}),
      'text',
      '- (input): Invalid input: expected object, received string. Arguments that are not valid JSON count as text: send one JSON object',
    ],
    [
      'a union of objects',
      z.strictObject({ v: z.union([z.strictObject({ a: z.string() }), z.string()]) }),
      { v: {} },
      '- `v`: `a` required, expected string; or Invalid input: expected string, received object',
    ],
    [
      'a union',
      z.strictObject({ v: z.union([z.string(), z.number()]) }),
      { v: true },
      '- `v`: Invalid input: expected string, received boolean; or Invalid input: expected number, received boolean',
    ],
  ])('words %s by its path', (_what, schema, input, line) => {
    expect(lines(schema, input)).toEqual([line]);
  });

  it('counts the issues it does not list', () => {
    const { error } = z.array(z.string()).safeParse(Array.from({ length: 25 }, () => 1));
    expect(
      validationErrorText('Edit', error?.issues ?? [])
        .split('\n')
        .at(-1),
    ).toBe('- and 5 more');
  });

  it('adds where a deferred tool has its schema', () => {
    const { error } = z.strictObject({ a: z.string() }).safeParse({});
    expect(validationErrorText('Edit', error?.issues ?? [], 'Finder')).toContain('call Finder with "select:Edit"');
  });
});
