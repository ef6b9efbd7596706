/** The wire shapes of permissions, checked by Zod: modes, rule lists, updates. */
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';
import { PERMISSION_MODES } from '../wire/permission-context.ts';

/** Limits used by these schemas. */
export type PermissionLimits = Pick<
  Limits,
  'ruleChars' | 'permissionRules' | 'permissionUpdates' | 'additionalDirectories' | 'pathChars'
>;

/** Permission mode, as spelled on the wire and in the settings file. */
export const PermissionModeSchema = z.enum(PERMISSION_MODES).describe('How much a session may do unasked');

/**
 * Create the schemas that depend on limits.
 *
 * @returns `rules`: one list of rules; `ruleSet`: `{allow?, ask?, deny?}`; `directories`; `update`: one
 * `PermissionUpdate`; `updates`: a list of them. The syntax of a rule is checked by `parseRule`.
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
