/**
 * The shapes of the protocol that the console reads, taken from the client's types.
 */
import type { Frame, PermissionMode, PermissionUpdate, Question, RuleSet } from '../../../client/src/wire.ts';

export type {
  CallSummary,
  Frame,
  PermissionMode,
  PermissionUpdate,
  RuleSet,
  SessionDescription,
} from '../../../client/src/wire.ts';

/** A frame of one type. */
export type FrameOf<Type extends Frame['type']> = Extract<Frame, { type: Type }>;
export type Display = FrameOf<'result'>['display'];
export type DisplayBlock = Display['blocks'][number];
export type BlockOf<Kind extends DisplayBlock['kind']> = Extract<DisplayBlock, { kind: Kind }>;
export type DiffHunk = BlockOf<'diff'>['hunks'][number];
export type FormField = BlockOf<'form'>['fields'][number];
export type Decision = NonNullable<FrameOf<'result'>['decision']>;
export type DecisionReason = Decision['reason'];
export type PermissionContext = FrameOf<'context'>['permission_context'];
export type RuleBehavior = Decision['behavior'];

/** A question as it stands open: a log frame has a position, one of `welcome` or `GET /prompts` may have none. */
export type OpenQuestion = Omit<Question, 'type'> & { readonly ts?: string };
/** A question with the session that it stands in. */
export type InboxQuestion = OpenQuestion & { readonly session_id: string };

/** An answer to a question. */
export interface Answer {
  readonly behavior: 'allow' | 'deny';
  readonly message?: string;
  readonly updated_input?: Record<string, unknown>;
  readonly updated_permissions?: readonly PermissionUpdate[];
}

/** Reply of `permissions/explain`. */
export interface Explanation {
  readonly behavior: RuleBehavior;
  readonly reason: DecisionReason;
  readonly message: string;
  readonly read_only: boolean;
  readonly concurrency_safe: boolean;
  readonly destructive: boolean;
  readonly warnings: readonly string[];
  readonly suggestions: readonly PermissionUpdate[];
  readonly allowed_by?: readonly string[];
  readonly parts?: readonly {
    readonly text: string;
    readonly behavior: RuleBehavior;
    readonly reason?: DecisionReason;
  }[];
  readonly containment?: 'jail' | 'words';
}

/** A tool as `GET /tools?format=full` lists it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input_schema?: JsonSchema;
  readonly source: 'built_in' | 'mcp' | 'plugin';
  readonly server?: string;
  readonly user_facing_name: string;
  readonly state: string;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
}

/** The part of JSON Schema that forms are made of. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly default?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly additionalProperties?: boolean | JsonSchema;
}

/** A page of a long text. */
export interface TextPage {
  readonly text: string;
  readonly total_chars: number;
  readonly offset_chars: number;
  readonly next_offset_chars?: number;
}

/** A change of a file as `GET …/changes` lists it. */
export interface ListedChange {
  readonly seq: number;
  readonly ts: string;
  readonly tool_use_id: string;
  readonly tool_name?: string;
  readonly path: string;
  readonly kind: 'created' | 'modified' | 'deleted' | 'none';
  readonly undoable: boolean;
  readonly reason?: string;
  readonly undone: boolean;
  readonly diff?: { readonly added: number; readonly removed: number; readonly hunks: readonly DiffHunk[] };
  readonly diff_omitted?: string;
}

/** Result of an undo, or of its preview. */
export interface UndoReply {
  readonly seq?: number;
  readonly files: readonly { readonly path: string; readonly kind: ListedChange['kind'] }[];
  readonly left: readonly { readonly path: string; readonly reason: string }[];
}

/** An MCP server as the caller has it. */
export interface McpServer {
  readonly name: string;
  readonly state: 'connecting' | 'connected' | 'needs_auth' | 'needs_approval' | 'failed' | 'disabled';
  readonly since: string;
  readonly reason?: string;
  readonly latency_ms?: number;
  readonly tool_count: number;
  readonly remote: boolean;
  readonly login?: { readonly state: 'none' | 'pending' | 'held'; readonly failure?: string };
}

/** A call that a search found. */
export interface SearchHit {
  readonly session_id: string;
  readonly seq: number;
  readonly ts: string;
  readonly tool_use_id: string;
  readonly name: string;
  /** Absent while the call has no result. */
  readonly status?: string;
  readonly excerpt: string;
}

/** Outcome of a rule against a call of the past. */
export interface TestedCall {
  readonly tool_use_id: string;
  readonly seq: number;
  readonly name: string;
  /** The tool and the texts of its input, cut. */
  readonly text: string;
  readonly before: { readonly behavior: RuleBehavior };
  readonly after: { readonly behavior: RuleBehavior };
  readonly changed: boolean;
}

/** Reply of `permissions/test`. */
export interface TestedPermissions {
  readonly calls: readonly TestedCall[];
  readonly changed: number;
  /** False: there was not time for all calls. */
  readonly complete: boolean;
}

export type Mode = PermissionMode;
export type Rules = RuleSet;
export type Updates = readonly PermissionUpdate[];

/** All modes, from least to most. */
export const MODES: readonly Mode[] = ['plan', 'dontAsk', 'default', 'acceptEdits', 'auto', 'bypassPermissions'];
