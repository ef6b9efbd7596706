/**
 * Decisions of a gate, with their reasons.
 *
 * A tool's own `checkPermissions` answers with a `PermissionResult`; the decision of ARCHITECTURE, "What may run",
 * which weighs it with rules, mode and hooks, is a `PermissionDecision`.
 */
import * as z from 'zod';
import type { PermissionUpdate } from './permission-context.ts';
import { RULE_BEHAVIORS, RULE_SOURCES } from './permission-names.ts';
import { PermissionModeSchema } from './permission-schemas.ts';
import type { Wire } from './wire-type.ts';

/** A tool's own opinion. A plain `allow` is no objection, never a grant: the general rules decide. */
export type PermissionResult =
  | { readonly behavior: 'allow'; readonly updatedInput?: Readonly<Record<string, unknown>> }
  | {
      readonly behavior: 'ask';
      readonly message: string;
      readonly suggestions?: readonly PermissionUpdate[];
      /** The tool needs a person in every mode, `bypassPermissions` included. */
      readonly isRequired?: boolean;
      /** A safety check of the tool: asked in every mode, no rule or hook beats it. */
      readonly isSafetyCheck?: boolean;
    }
  | { readonly behavior: 'deny'; readonly message: string };

/** Reason for a decision. */
export type DecisionReason = Wire<typeof DecisionReason>;
export const DecisionReason = z.object({
  type: z
    .enum(['rule', 'mode', 'safety_check', 'tool', 'read_only', 'hook', 'classifier', 'default', 'parse_error'])
    .describe('What decided'),
  rule: z.string().optional().describe('The rule as written, where a rule decided'),
  source: z.enum(RULE_SOURCES).optional().describe('Where that rule comes from'),
  mode: PermissionModeSchema.optional().describe('The mode, where a mode decided'),
});

/** The kind of thing that decided. */
export type DecisionReasonType = DecisionReason['type'];

/** One part of a compound command and the decision about it. */
export type DecisionPart = Wire<typeof DecisionPart>;
export const DecisionPart = z.object({
  text: z.string(),
  behavior: z.enum(RULE_BEHAVIORS),
  reason: DecisionReason.optional(),
});

/** Decision of the gate, as the result of a call states it. */
export type DecisionSummary = Wire<typeof DecisionSummary>;
export const DecisionSummary = z.object({
  behavior: z.enum(RULE_BEHAVIORS).describe('`ask`: the person who was asked decided'),
  reason: DecisionReason,
});

/** Decision on a call. `ask` is the decision before a person is asked. */
export interface PermissionDecision {
  readonly behavior: 'allow' | 'ask' | 'deny';
  readonly reason: DecisionReason;
  /** For the person who is asked, or the model that is refused. */
  readonly message: string;
  /** Different principals that must say yes; absent: one. */
  readonly approvals?: number;
  /** A person must answer the question itself: an approval that was given before does not count. */
  readonly needsAnswer?: boolean;
  /** Rules that "always allow" would add; empty if that would not help. */
  readonly suggestions: readonly PermissionUpdate[];
  /** Rules that would allow the call; absent where no rule would. */
  readonly allowedBy?: readonly string[];
  /** Dangers of the call, one sentence each. */
  readonly warnings: readonly string[];
  readonly parts?: readonly DecisionPart[];
  /** Containment of commands that pass because they only read: by the kernel, or by their words alone. */
  readonly containment?: 'jail' | 'words';
  /** The tool's own replacement of the input, from its `checkPermissions`. */
  readonly updatedInput?: Readonly<Record<string, unknown>>;
}
