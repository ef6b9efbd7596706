import { describe, expect, test } from 'vitest';
import type { PermissionMode } from '../../../src/wire/permission-context.ts';
import { PERMISSION_MODES } from '../../../src/wire/permission-names.ts';
import { applyUpdates, checkedContext, createPermissionContext } from '../../../src/permissions/context.ts';
import { isBeyond, loweredMode, MODES_BY_REACH } from '../../../src/permissions/mode-order.ts';

test('every mode has its place in the order', () => {
  expect([...MODES_BY_REACH].sort()).toEqual([...PERMISSION_MODES].sort());
});

test('a mode is lowered to the highest one, never raised, and left alone without one', () => {
  expect(loweredMode('bypassPermissions', 'acceptEdits')).toBe('acceptEdits');
  expect(loweredMode('plan', 'acceptEdits')).toBe('plan');
  expect(loweredMode('bypassPermissions', undefined)).toBe('bypassPermissions');
  expect(isBeyond('auto', undefined)).toBe(false);
});

describe('a context with a highest mode', () => {
  const bounds = { isBypassAvailable: true, maxMode: 'default' } as const;
  const context = createPermissionContext({ ...bounds, mode: 'plan' });
  const goTo = (mode: PermissionMode) => applyUpdates(context, [{ type: 'setMode', mode }]);

  test('goes up to it and no further, by whatever way', () => {
    expect(goTo('default').mode).toBe('default');
    for (const mode of ['acceptEdits', 'auto', 'bypassPermissions'] as const) {
      const refusal = { code: 'forbidden', details: { reason: 'max_mode', path: 'mode', max_mode: 'default' } };
      expect(() => goTo(mode)).toThrow(expect.objectContaining(refusal));
      expect(() => checkedContext(context, { ...context, mode })).toThrow(expect.objectContaining(refusal));
      expect(() => createPermissionContext({ ...bounds, mode })).toThrow(expect.objectContaining(refusal));
    }
  });

  test('keeps it from version to version, and offers no bypass', () => {
    expect(goTo('default')).toMatchObject({ maxMode: 'default', isBypassAvailable: false });
    expect(createPermissionContext({ ...bounds, mode: 'plan', maxMode: 'bypassPermissions' }).isBypassAvailable).toBe(
      true,
    );
  });
});
