/** Orders modes by how much they allow, to enforce a principal's `maxMode`. */
import type { PermissionMode } from '../wire/permission-context.ts';

/**
 * Modes from the least to the most permissive: `plan` only reads, `dontAsk` denies all questions, `acceptEdits` allows
 * edits unasked, and in `auto` a model may allow anything.
 */
export const MODES_BY_REACH = ['plan', 'dontAsk', 'default', 'acceptEdits', 'auto', 'bypassPermissions'] as const;

/** Report whether `mode` is more permissive than `maxMode`; false without `maxMode`. */
export function isBeyond(mode: PermissionMode, maxMode: PermissionMode | undefined): boolean {
  return maxMode !== undefined && MODES_BY_REACH.indexOf(mode) > MODES_BY_REACH.indexOf(maxMode);
}

/** Return the less permissive of `mode` and `maxMode`. */
export function loweredMode(mode: PermissionMode, maxMode: PermissionMode | undefined): PermissionMode {
  return maxMode !== undefined && isBeyond(mode, maxMode) ? maxMode : mode;
}
