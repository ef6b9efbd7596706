/**
 * Which mode lets more through than another: what a principal's `maxMode` is measured by.
 */
import type { PermissionMode } from '../wire/permission-context.ts';

/**
 * From the mode that lets least through to the one that lets most: `plan` only reads, `dontAsk` asks nobody,
 * `acceptEdits` edits unasked, and in `auto` a model may say yes to anything.
 */
export const MODES_BY_REACH = ['plan', 'dontAsk', 'default', 'acceptEdits', 'auto', 'bypassPermissions'] as const;

/** Whether `mode` lets more through than `most`; without `most` none does. */
export function isBeyond(mode: PermissionMode, most: PermissionMode | undefined): boolean {
  return most !== undefined && MODES_BY_REACH.indexOf(mode) > MODES_BY_REACH.indexOf(most);
}

/** `mode`, or `most` where that lets less through. */
export function loweredMode(mode: PermissionMode, most: PermissionMode | undefined): PermissionMode {
  return most !== undefined && isBeyond(mode, most) ? most : mode;
}
