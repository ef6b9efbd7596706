/**
 * What a PermissionRequest hook adds to its yes: the updates of the public hook contract, or those of our own wire.
 */
import { z } from 'zod';
import type { PermissionUpdate } from '../wire/permission-context.ts';
import { PermissionModeSchema } from '../permissions/schemas.ts';

/** `Bash(git push:*)`, or the same in two parts. */
const rule = z.union([
  z.string(),
  z
    .object({ toolName: z.string(), ruleContent: z.string().optional() })
    .transform(({ toolName, ruleContent }) => (ruleContent ? `${toolName}(${ruleContent})` : toolName)),
]);

/** Where the public contract would keep an update is ignored: here it is the session's. */
const update = z.discriminatedUnion('type', [
  z.object({ type: z.literal('setMode'), mode: PermissionModeSchema }),
  z.object({
    type: z.enum(['addRules', 'removeRules', 'replaceRules']),
    behavior: z.enum(['allow', 'ask', 'deny']),
    rules: z.array(rule),
  }),
  z.object({ type: z.enum(['addDirectories', 'removeDirectories']), directories: z.array(z.string()) }),
]);

/** A list of them. Whether a rule parses, and how many there may be, is for the permission context to say. */
export const hookPermissionUpdates: z.ZodType<readonly PermissionUpdate[]> = z.array(update);
