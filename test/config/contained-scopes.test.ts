/** The setting `containment`: what a file says, and what a policy makes of it. */
import { expect, it } from 'vitest';
import { mergeContainment } from '../../config/settings/containment.ts';

it('holds what only reads, unless somebody says otherwise', () => {
  expect(mergeContainment(undefined, undefined)).toEqual({ scope: 'reads', isRequired: false, wordsAlone: false });
  expect(mergeContainment({ scope: 'off' }, undefined).scope).toBe('off');
});

it('is tightened by a policy, and loosened by none', () => {
  expect(mergeContainment({ scope: 'off' }, { scope: 'all' }).scope).toBe('all');
  expect(mergeContainment({ scope: 'all' }, { scope: 'off' }).scope).toBe('all');
  expect(mergeContainment({ required: true }, { required: false }).isRequired).toBe(true);
  expect(mergeContainment({ wordsAlone: true }, { wordsAlone: false }).wordsAlone).toBe(false);
  expect(mergeContainment({ wordsAlone: true }, undefined).wordsAlone).toBe(true);
});
