/** The wire shapes of permissions, checked by Zod: modes, rule lists, updates. */
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';
import { PERMISSION_MODES } from '../wire/permission-context.ts';

/** The limits these shapes are bounded by. */
export type PermissionLimits = Pick<
  Limits,
  'ruleChars' | 'permissionRules' | 'permissionUpdates' | 'additionalDirectories' | 'pathChars'
>;

/** A permission mode, as the wire and the settings file spell it. */
export const PermissionModeSchema = z.enum(PERMISSION_MODES).describe('How much a session may do unasked');

/**
 * The schemas that have bounds.
 *
 * @returns `rules`: one list of rules; `ruleSet`: `{allow?, ask?, deny?}`; `directories`; `update`: one
 *   `PermissionUpdate`; `updates`: a list of them. Whether a rule parses is for `parseRule` to say.
 */
export function permissionSchemas(limits: PermissionLimits) {
  const rules = z.array(z.string().min(1).max(limits.ruleChars)).max(limits.permissionRules);
  const directories = z.array(z.string().min(1).max(limits.pathChars)).max(limits.additionalDirectories);
  const ruleSet = z.strictObject({ allow: rules.default([]), ask: rules.default([]), deny: rules.default([]) });
  const update = z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('setMode'), mode: PermissionModeSchema }),
    z.strictObject({
      type: z.enum(['addRules', 'removeRules', 'replaceRules']),
      behavior: z.enum(['allow', 'ask', 'deny']),
      rules,
    }),
    z.strictObject({ type: z.enum(['addDirectories', 'removeDirectories']), directories }),
  ]);
  return { rules, ruleSet, directories, update, updates: z.array(update).min(1).max(limits.permissionUpdates) };
}
