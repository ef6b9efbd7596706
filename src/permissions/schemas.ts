/** The wire shapes of permissions, checked by Zod: modes, rule lists, updates. */
import * as z from 'zod';
import { PERMISSION_MODES } from '../wire/permission-context.ts';
import { MAX_ADDITIONAL_DIRECTORIES, MAX_PERMISSION_RULES } from './context.ts';

/** Text of one rule. */
export const MAX_RULE_CHARS = 10_000;

/** Updates in one request, which make one version of the context. */
const MAX_UPDATES = 256;

/** A path from outside: as long as Linux takes one. */
export const MAX_PATH_CHARS = 4_096;

/** Permission mode, as spelled on the wire and in the settings file. */
export const PermissionModeSchema = z.enum(PERMISSION_MODES).describe('How much a session may do unasked');

/** One list of rules. Whether each of them parses is for `parseRule` to say. */
const RuleListSchema = z.array(z.string().min(1).max(MAX_RULE_CHARS)).max(MAX_PERMISSION_RULES);

/** `{allow?, ask?, deny?}` */
export const RuleSetSchema = z.strictObject({
  allow: RuleListSchema.default([]),
  ask: RuleListSchema.default([]),
  deny: RuleListSchema.default([]),
});

/** Working directories beside the session's own. */
export const DirectoriesSchema = z.array(z.string().min(1).max(MAX_PATH_CHARS)).max(MAX_ADDITIONAL_DIRECTORIES);

const UpdateSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('setMode'), mode: PermissionModeSchema }),
  z.strictObject({
    type: z.enum(['addRules', 'removeRules', 'replaceRules']),
    behavior: z.enum(['allow', 'ask', 'deny']),
    rules: RuleListSchema,
  }),
  z.strictObject({ type: z.enum(['addDirectories', 'removeDirectories']), directories: DirectoriesSchema }),
]);

/** A list of `PermissionUpdate`, perhaps empty. */
export const UpdatesSchema = z.array(UpdateSchema).max(MAX_UPDATES);
