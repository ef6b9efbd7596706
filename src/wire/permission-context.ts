/**
 * The permission context: what a session may do, frozen and versioned.
 *
 * Nothing changes one. An update makes the next version; a running call keeps the one it started with.
 */
import * as z from 'zod';
import { type PERMISSION_MODES, type RULE_BEHAVIORS, RULE_SOURCES, type TOOL_MODES } from './permission-names.ts';
import { PermissionModeSchema, ruleSetSchema, updateSchema } from './permission-schemas.ts';
import { Texts } from './values.ts';
import type { Wire } from './wire-type.ts';

/** One of the three tool modes. */
export type ToolMode = (typeof TOOL_MODES)[number];

/** One of the six modes. */
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** One of the eight sources. */
export type RuleSource = (typeof RULE_SOURCES)[number];

/** Effect of a rule that matches. */
export type RuleBehavior = (typeof RULE_BEHAVIORS)[number];

/** Rules of one source as people write them: `Tool` or `Tool(spec)`. */
export type RuleSet = Wire<typeof RuleSet>;
export const RuleSet = ruleSetSchema(Texts);

/** Rules and directories of one settings file of a trusted folder, as it was when the session began. */
export type WorkspaceSettings = Wire<typeof WorkspaceSettings>;
export const WorkspaceSettings = RuleSet.extend({
  source: z.enum(['projectSettings', 'localSettings']),
  folder: z.string().describe('Real path of the trusted folder'),
  additional_directories: Texts.describe('Absolute paths'),
});

/** A change to a context: `updates[]`, `suggestions[]`, `updated_permissions[]`. */
export type PermissionUpdate = Wire<typeof PermissionUpdate>;
export const PermissionUpdate = updateSchema(Texts, Texts);

/** A permission context as it goes over the wire. */
export type WirePermissionContext = Wire<typeof WirePermissionContext>;
export const WirePermissionContext = z.object({
  version: z.int().min(1).describe('1 at first, one more with each change'),
  mode: PermissionModeSchema,
  rules: z.partialRecord(z.enum(RULE_SOURCES), RuleSet).describe('Rules by source; a source without rules is absent'),
  additional_directories: Texts.describe('Absolute paths that count as inside, beside the working directory'),
  is_bypass_available: z.boolean().describe('False where the settings forbid mode `bypassPermissions`'),
  max_mode: PermissionModeSchema.optional().describe(
    'The most permissive mode that the principal may choose; absent where there is no bound',
  ),
  avoid_prompts: z.boolean().describe('True if no one can be asked: a question is denied'),
});

/** Permissions of a session. Deeply frozen. */
export interface ToolPermissionContext {
  /** 1 at first, one more with each change. */
  readonly version: number;
  readonly mode: PermissionMode;
  /** Only sources that hold rules are present. */
  readonly rules: WirePermissionContext['rules'];
  /** Absolute paths beside the session's working directory that count as inside. */
  readonly additionalDirectories: readonly string[];
  /** False where the settings forbid mode `bypassPermissions`. */
  readonly isBypassAvailable: boolean;
  /** The mode that lets most through of those its principal may choose; absent: any. */
  readonly maxMode?: PermissionMode;
  /** True if no person can be asked: a question is answered "no". */
  readonly shouldAvoidPermissionPrompts: boolean;
}
