/**
 * Permission modes, rule sets and updates as Zod schemas: requests bound their lists, replies and frames do not.
 */
import * as z from 'zod';
import {
  MAX_ADDITIONAL_DIRECTORIES,
  MAX_PERMISSION_RULES,
  PERMISSION_MODES,
  RULE_BEHAVIORS,
} from './permission-names.ts';

/** Text of one rule. */
export const MAX_RULE_CHARS = 10_000;

/** Updates in one request, which make one version of the context. */
const MAX_UPDATES = 256;

/** A path from outside: as long as Linux takes one. */
export const MAX_PATH_CHARS = 4_096;

/** Permission mode, as spelled on the wire and in the settings file. */
export const PermissionModeSchema = z.enum(PERMISSION_MODES).describe('How much a session may do unasked');

/** One list of rules in a request. `parseRule` says whether each of them is well formed. */
const RuleListSchema = z.array(z.string().min(1).max(MAX_RULE_CHARS)).max(MAX_PERMISSION_RULES);

/** `{allow?, ask?, deny?}` in a request. */
export const RuleSetSchema = ruleSetSchema(RuleListSchema.default([]));

/** Working directories beside the session's own, in a request. */
export const DirectoriesSchema = z.array(z.string().min(1).max(MAX_PATH_CHARS)).max(MAX_ADDITIONAL_DIRECTORIES);

/** A list of `PermissionUpdate` in a request, perhaps empty. */
export const UpdatesSchema = z.array(updateSchema(RuleListSchema, DirectoriesSchema)).max(MAX_UPDATES);

/** Rules of one source. @param rules One list of rules: required, or with a default. */
export function ruleSetSchema<Rules extends z.ZodType>(rules: Rules) {
  return z.strictObject({ allow: rules, ask: rules, deny: rules });
}

/** A change to a permission context. */
export function updateSchema(rules: z.ZodArray<z.ZodString>, directories: z.ZodArray<z.ZodString>) {
  return z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('setMode'), mode: PermissionModeSchema }),
    z.strictObject({
      type: z.enum(['addRules', 'removeRules', 'replaceRules']),
      behavior: z.enum(RULE_BEHAVIORS),
      rules,
    }),
    z.strictObject({ type: z.enum(['addDirectories', 'removeDirectories']), directories }),
  ]);
}
