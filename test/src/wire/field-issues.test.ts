/** Which fields do not fit, in words. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { checkFields } from '../../../src/wire/field-issues.ts';

const Answer = z.strictObject({
  behavior: z.enum(['allow', 'deny']),
  updated_input: z.looseObject({}).optional(),
  edits: z.array(z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('add'), at: z.number() })])).optional(),
});

function issuesOf(value: unknown): readonly string[] {
  const check = checkFields(Answer, value);
  return check.kind === 'fits' ? [] : check.issues.map(({ path, message }) => `${path}: ${message}`);
}

it.each([
  [{ behavior: 'allow', updated_input: { anything: 1 } }, []],
  [{}, ['behavior: is required']],
  [undefined, [': is required']],
  [{ behavior: 'allow', updatedInput: {} }, ['updatedInput: is not a known field; did you mean "updated_input"?']],
  [{ behaviour: 'deny' }, ['behaviour: is not a known field; did you mean "behavior"?', 'behavior: is required']],
  [{ behavior: 'deny', zzz: 1 }, ['zzz: is not a known field; known here: behavior, updated_input, edits']],
  [
    { behavior: 'deny', edits: [{ kind: 'add', at: 1, att: 2 }] },
    ['edits[0].att: is not a known field; did you mean "at"?'],
  ],
  [{ behavior: 'deny', edits: [{ at: 1 }] }, ['edits[0].kind: is required']],
  [{ behavior: 'deny', edits: [{ kind: 'ad', at: 1 }] }, ['edits[0].kind: expected one of "add"']],
  [
    { behavior: 'deny', edits: [{ kind: 'add', at: '1' }] },
    ['edits[0].at: Invalid input: expected number, received string'],
  ],
])('%j', (value, issues) => {
  expect(issuesOf(value)).toEqual(issues);
});

it('a flood of unknown keys, or one without end, costs no more than a few', () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`behavior${index}`, 1]));
  const long = { ['behavior'.repeat(1_000_000)]: 1 };
  const beganMs = performance.now();
  expect(issuesOf({ behavior: 'deny', ...many })).toHaveLength(20);
  expect(issuesOf({ behavior: 'deny', ...long }).join('').length).toBeLessThan(1_000);
  expect(performance.now() - beganMs).toBeLessThan(2_000);
});
