/**
 * What a gate can say, and why.
 *
 * A tool's own `checkPermissions` answers with a `PermissionResult`; the decision of ARCHITECTURE, "What may run",
 * which weighs it with rules, mode and hooks, is a `PermissionDecision`.
 */
import type { PermissionMode, PermissionUpdate, RuleSource } from './permission-context.ts';

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

/** What kind of thing decided; the `reason.type` of `permissions/explain`. */
export type DecisionReasonType =
  'rule' | 'mode' | 'safety_check' | 'tool' | 'read_only' | 'hook' | 'classifier' | 'default' | 'parse_error';

/** Why a decision came out as it did, in wire shape. */
export interface DecisionReason {
  readonly type: DecisionReasonType;
  /** The rule as written, where one decided. */
  readonly rule?: string;
  readonly source?: RuleSource;
  readonly mode?: PermissionMode;
}

/** One part of a compound command and what became of it, in wire shape. */
export interface DecisionPart {
  readonly text: string;
  readonly behavior: 'allow' | 'ask' | 'deny';
  readonly reason?: DecisionReason;
}

/** How a gate decided, as the result of the call says it, in wire shape; `ask`: whoever was asked decided. */
export interface DecisionSummary {
  readonly behavior: 'allow' | 'ask' | 'deny';
  readonly reason: DecisionReason;
}

/** Whether a call may run. `ask` is the decision before anybody is asked. */
export interface PermissionDecision {
  readonly behavior: 'allow' | 'ask' | 'deny';
  readonly reason: DecisionReason;
  /** For the person who is asked, or the model that is refused. */
  readonly message: string;
  /** Different principals that must say yes; absent: one. */
  readonly approvals?: number;
  /** What "always allow" would add; empty where that would not help. */
  readonly suggestions: readonly PermissionUpdate[];
  /** Rules that would allow the call; absent where no rule would. */
  readonly allowedBy?: readonly string[];
  /** What makes the call dangerous, one sentence each. */
  readonly warnings: readonly string[];
  readonly parts?: readonly DecisionPart[];
  /** How a command that passes because it only reads is held to that: by the kernel, or by its words alone. */
  readonly containment?: 'jail' | 'words';
  /** The tool's own replacement of the input, from its `checkPermissions`. */
  readonly updatedInput?: Readonly<Record<string, unknown>>;
}
