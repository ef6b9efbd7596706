/**
 * Frames: what a subscriber is sent (PROTOCOL section 5).
 *
 * Log frames are numbered, stored, and sent to every reader of the session; control frames belong to
 * one connection and carry no `seq`. All shapes are wire shapes.
 */
import type { NewMessage, ToolResultBlock, ToolUseBlock } from './blocks.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { DecisionReason, DecisionSummary } from './decision.ts';
import type { Display } from './display.ts';
import type { CallErrorCode } from '../base/errors.ts';
import type { ChangeKind, FileChange, FileState } from './file-change.ts';
import type {
  PermissionMode,
  PermissionUpdate,
  RuleSet,
  ToolMode,
  WirePermissionContext,
  WorkspaceSettings,
} from './permission-context.ts';

/** How a task ended; `interrupted`: with its server. */
export type TaskStatus = 'completed' | 'failed' | 'killed' | 'interrupted';

/** A task was started: it goes on when its call has ended. Its work begins when this is on disk. */
export interface TaskStartedFrame {
  readonly type: 'task_started';
  readonly task_id: string;
  readonly tool_use_id: string;
  readonly kind: string;
  readonly description: string;
  /** Absolute path of the file that takes its whole output. */
  readonly output_path?: string;
}

/** Only what is new; of output that comes faster than it may be shown the latest. */
export interface TaskOutputFrame {
  readonly type: 'task_output';
  readonly task_id: string;
  readonly n: number;
  readonly text: string;
}

/** A task ended. */
export interface TaskEndedFrame {
  readonly type: 'task_ended';
  readonly task_id: string;
  readonly status: TaskStatus;
  readonly exit_code?: number;
  /** A sentence about the end. */
  readonly note?: string;
}

/** Position of a frame in its session's log, from 1. 0 is "before the first". */
export type Seq = number;

/** What a call came to. */
export type CallStatus = 'ok' | 'denied' | 'error' | 'cancelled' | 'interrupted';

/** The `call` of a result: everything about it but its content. */
export interface CallSummary {
  readonly tool_use_id: string;
  readonly name: string;
  readonly status: CallStatus;
  readonly error_code?: CallErrorCode;
  readonly duration_ms: number;
  readonly result_chars: number;
  readonly spilled?: { readonly chars: number; readonly path: string; readonly url: string };
  readonly replayed?: boolean;
  /** The tool left a part of what there is out of its result. */
  readonly truncated?: true;
}

/** First frame of every log and of every time a log is opened again after a crash. */
export interface OpenedFrame {
  readonly type: 'opened';
  readonly session_id: string;
  readonly principal: string;
  readonly created_at: string;
  readonly cwd: string;
  readonly tool_mode: ToolMode;
  readonly on_ask?: 'deny' | 'wait';
  readonly title?: string;
  /** The only tools that the session sees: names, aliases and `mcp__server`. */
  readonly tools?: readonly string[];
  /** JSON Schema of what StructuredOutput takes. */
  readonly output_schema?: JsonObject;
  readonly mode: PermissionMode;
  /** The session's own rules at first; those of the settings are not the session's to keep. */
  readonly rules?: RuleSet;
  readonly additional_directories?: readonly string[];
  /** What the settings files of trusted folders said then: a file that changes changes no session. */
  readonly workspace_settings?: readonly WorkspaceSettings[];
  /** Of a child session: the call that opened it. */
  readonly parent?: { readonly session_id: string; readonly tool_use_id: string };
  /** True when the log had been open before: what follows is what the crash left to say. */
  readonly reopened?: boolean;
}

/** A block was accepted and queued. */
export interface ToolUseFrame {
  readonly type: 'tool_use';
  readonly turn_id: string;
  /** Place among the blocks of the turn, or among the inner calls of one call. */
  readonly index: number;
  readonly tool_use: ToolUseBlock;
  /** The call that made this one, of an inner call. */
  readonly parent_tool_use_id?: string;
  /** More blocks of the turn may come: a turn that is open when the server dies can be gone on with. */
  readonly open?: true;
  readonly display: Display;
  /** What the call does while it runs, for people: "Reading src/app.ts". */
  readonly activity?: string;
}

/** What has streamed in of a block that is not complete. */
export interface InputPartialFrame {
  readonly type: 'input_partial';
  readonly turn_id: string;
  readonly index: number;
  readonly tool_use_id: string;
  readonly name: string;
  readonly partial_input: JsonObject;
  readonly display: Display;
}

/** A call moved on. `executing` begins with the gate. */
export interface StateFrame {
  readonly type: 'state';
  readonly tool_use_id: string;
  /** The call that made this one, of an inner call. */
  readonly parent_tool_use_id?: string;
  readonly state: 'executing' | 'completed';
}

/** The gate let a call through and its side effects may begin: what a crash makes `interrupted`. */
export interface StartedFrame {
  readonly type: 'started';
  readonly tool_use_id: string;
  /** The call that made this one, of an inner call. */
  readonly parent_tool_use_id?: string;
}

/** Only what is new. */
export interface ProgressFrame {
  readonly type: 'progress';
  readonly tool_use_id: string;
  /** The call that made this one, of an inner call. */
  readonly parent_tool_use_id?: string;
  readonly n: number;
  readonly data: { readonly type: string };
  readonly display?: Display;
}

/** A question to whoever may answer. */
export interface PermissionRequestFrame {
  readonly type: 'permission_request';
  readonly request_id: string;
  readonly tool_use_id: string;
  /** The call that made this one, of an inner call. */
  readonly parent_tool_use_id?: string;
  /** Of a question of a child session, in the log of its parent: the child. */
  readonly session_id?: string;
  readonly tool_name: string;
  readonly input: JsonValue;
  readonly title: string;
  /** One line of the call's tool, for the person who is asked; what a model put into it is the model's word. */
  readonly description?: string;
  readonly display: Display;
  readonly reason: DecisionReason;
  readonly destructive: boolean;
  readonly warnings: readonly string[];
  readonly suggestions: readonly PermissionUpdate[];
  readonly expires_at: string;
  /** Present where one yes is not enough. Each yes before the last one sends the request again, with who said it. */
  readonly approvals?: { readonly needed: number; readonly by: readonly string[] };
}

/** A question was answered, settled by a new rule, withdrawn, or expired. */
export interface PermissionResolvedFrame {
  readonly type: 'permission_resolved';
  readonly request_id: string;
  readonly tool_use_id: string;
  /** The call that made this one, of an inner call. */
  readonly parent_tool_use_id?: string;
  /** Of a question of a child session, in the log of its parent: the child. */
  readonly session_id?: string;
  readonly behavior: 'allow' | 'deny';
  /** Principal that answered, or `timeout`, `rule`, `cancelled`. */
  readonly by: string;
  readonly reason: string;
}

/** A result left: the state `yielded`. */
export interface ResultFrame {
  readonly type: 'result';
  readonly turn_id: string;
  readonly index: number;
  readonly tool_use_id: string;
  /** The call that made this one, of an inner call. */
  readonly parent_tool_use_id?: string;
  readonly tool_result: ToolResultBlock;
  readonly call: CallSummary;
  /** Absent where the call did not come as far as a decision. */
  readonly decision?: DecisionSummary;
  readonly display: Display;
  /** The same in a line or two, where the tool draws that. */
  readonly condensed?: Display;
  readonly new_messages?: readonly NewMessage[];
}

/** No more blocks come in a turn that was open; some of its calls have no result yet. */
export interface TurnClosedFrame {
  readonly type: 'turn_closed';
  readonly turn_id: string;
}

/** No result of this turn is still to come. */
export interface TurnEndFrame {
  readonly type: 'turn_end';
  readonly turn_id: string;
  readonly calls: readonly CallSummary[];
}

/** A new permission context, or a new working directory under the same one. */
export interface ContextFrame {
  readonly type: 'context';
  readonly version: number;
  readonly permission_context: WirePermissionContext;
  readonly cwd: string;
  /** Working directory that `cwd` starts from; present where it is not the one of the `opened` frame. */
  readonly root?: string;
  /** Present where it is not the one of the `opened` frame. */
  readonly tool_mode?: ToolMode;
  /** The git worktree that the session is in. */
  readonly worktree?: { readonly path: string; readonly branch: string; readonly original_cwd: string };
  /** Durable state of tools, by name; present when it changed. */
  readonly tool_state?: Readonly<Record<string, JsonValue>>;
}

/**
 * A call changes a file. What is foreseen is announced before the file is touched; of several frames of one call about
 * one path that start from the same bytes, the last holds.
 */
export interface ChangeFrame extends FileChange {
  readonly type: 'change';
  readonly tool_use_id: string;
  /** The call that made this one, of an inner call. */
  readonly parent_tool_use_id?: string;
}

/** One file that an undo put back. */
export interface UndoneFile {
  readonly path: string;
  /** What the undo did to it; `none` where it was as wanted already. */
  readonly kind: ChangeKind;
  /** What is there now; absent: nothing. */
  readonly state?: FileState;
  /** `seq` of the changes that are taken back by it. */
  readonly changes: readonly Seq[];
}

/** Files were put back as they had been. Has one of `to_seq` and `tool_use_id`. */
export interface UndoFrame {
  readonly type: 'undo';
  readonly to_seq?: Seq;
  readonly tool_use_id?: string;
  /** Principal that asked for it. */
  readonly by: string;
  readonly files: readonly UndoneFile[];
  /** Files that stay as they are, since one of their changes cannot be taken back. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
}

/** The session's tool list changed. */
export interface ToolsChangedFrame {
  readonly type: 'tools_changed';
  readonly prefix_sha256: string;
  readonly built_in_count: number;
  readonly mcp_count: number;
}

/** Something a person may want to know. */
export interface NoticeFrame {
  readonly type: 'notice';
  readonly level: 'info' | 'warning' | 'error';
  readonly code: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** What an appender hands the log; the log gives it `seq` and `ts`. */
export type NewFrame =
  | OpenedFrame
  | ToolUseFrame
  | InputPartialFrame
  | StateFrame
  | StartedFrame
  | ProgressFrame
  | PermissionRequestFrame
  | PermissionResolvedFrame
  | ResultFrame
  | TurnClosedFrame
  | TurnEndFrame
  | ContextFrame
  | ChangeFrame
  | UndoFrame
  | TaskStartedFrame
  | TaskOutputFrame
  | TaskEndedFrame
  | ToolsChangedFrame
  | NoticeFrame;

/** A frame as it stands in the log and goes over the wire. `ts` is ISO 8601 UTC. */
export type Frame = NewFrame & { readonly seq: Seq; readonly ts: string };

/** Frames that may be thinned out, and that `progress:false` leaves out. */
export function isProgress(type: string): boolean {
  return type === 'progress' || type === 'task_output' || type === 'input_partial';
}
