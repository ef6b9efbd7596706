/**
 * Log frames: what the log of a session holds and every reader of the session is sent (PROTOCOL section 5).
 *
 * The descriptions document each type, and they are public: `/openapi.json` and `docs/frames.md` are made from them.
 */
import * as z from 'zod';
import { CALL_ERROR_CODES } from '../base/errors.ts';
import { CallIdSchema, IdSchema, IdScopeSchema, ToolSearchFormSchema } from './block-schema.ts';
import { NewMessage, ToolResultBlock, ToolUseBlock } from './blocks.ts';
import { DecisionReason, DecisionSummary } from './decision.ts';
import { Display } from './display.ts';
import { ChangeKind, FileChange, FileState } from './file-change.ts';
import { PermissionUpdate, RuleSet, WirePermissionContext, WorkspaceSettings } from './permission-context.ts';
import { TOOL_MODES } from './permission-names.ts';
import { PermissionModeSchema } from './permission-schemas.ts';
import { Count, Json, JsonRecord, Texts, Time } from './values.ts';
import { openObject, type Wire } from './wire-type.ts';

/** Position of a frame in its session's log, from 1. 0 is "before the first". */
export type Seq = number;
export const SeqSchema = z.int().min(1).describe('Position in the log of the session, from 1');

const CallId = CallIdSchema.describe('The call');
const TurnId = IdSchema.describe('The turn');
const TaskId = IdSchema.describe('The task; TaskOutput and TaskStop take it');
const ParentCall = CallIdSchema.optional().describe('The call that made this one; present in frames of an inner call');
const ProviderId = z
  .string()
  .optional()
  .describe('The id that the provider gave; present where the server made another of it (`id_scope`)');
const ChildSession = IdSchema.optional().describe('The child session that asks; present in the log of its parent');
const Piece = Count.describe('Counts the pieces, from 1');
const Mode = z.enum(TOOL_MODES);

/** The outcome of a call. */
export type CallStatus = CallSummary['status'];

export type CallSummary = Wire<typeof CallSummary>;
export const CallSummary = z
  .object({
    tool_use_id: CallId,
    provider_id: ProviderId,
    name: z.string().describe('The tool'),
    status: z.enum(['ok', 'denied', 'error', 'cancelled', 'interrupted']),
    error_code: z.enum(CALL_ERROR_CODES).optional().describe('Present where `status` is not `ok`'),
    duration_ms: z.number().min(0),
    result_chars: Count.describe('Characters of the whole text of the result'),
    spilled: z
      .object({
        chars: Count,
        path: z.string().describe('File that Read and Grep of the session may open'),
        url: z.string().describe('Path of the request that gives the text by range'),
      })
      .optional()
      .describe('The text was too long for the result and was written to a file'),
    replayed: z.boolean().optional().describe('The stored result of an earlier run'),
    truncated: z.literal(true).optional().describe('The tool left out a part of what there is'),
    rewritten: z.literal(true).optional().describe('A hook changed what the tool answered'),
  })
  .describe('The outcome of a call without its content');

const WorktreePlace = z
  .object({ path: z.string(), branch: z.string(), original_cwd: z.string() })
  .describe('The git worktree that the session is in');

export type OpenedFrame = Wire<typeof OpenedFrame>;
export const OpenedFrame = z
  .object({
    type: z.literal('opened'),
    session_id: IdSchema.describe('The session'),
    principal: z.string().describe('The principal that the session belongs to'),
    created_at: Time.describe('When the session began'),
    cwd: z.string().describe('Working directory, an absolute path'),
    tool_mode: Mode.describe('Which tools the session sees'),
    on_ask: z
      .enum(['deny', 'wait'])
      .optional()
      .describe('What happens to a question when no connected client may answer'),
    id_scope: IdScopeSchema.optional(),
    tool_search: ToolSearchFormSchema.optional(),
    title: z.string().optional().describe('Title that the client gave'),
    tools: Texts.optional().describe('The only tools that the session sees: names, aliases and `mcp__server`'),
    output_schema: JsonRecord.optional().describe('JSON Schema of the input of StructuredOutput'),
    mode: PermissionModeSchema,
    rules: RuleSet.optional().describe('Rules that the session began with, without those of the settings'),
    additional_directories: Texts.optional().describe('Absolute paths that count as inside'),
    workspace_settings: z
      .array(WorkspaceSettings)
      .optional()
      .describe('Settings files of trusted folders, as they were when the session began'),
    parent: z
      .object({ session_id: IdSchema, tool_use_id: CallIdSchema })
      .optional()
      .describe('The call that opened this session; present in a child session'),
    worktree: WorktreePlace.optional(),
    reopened: z
      .boolean()
      .optional()
      .describe('The log was open before: the frames that follow settle what a crash cut off'),
  })
  .describe('The session began, or was opened again after a crash');

export type ToolUseFrame = Wire<typeof ToolUseFrame>;
export const ToolUseFrame = z
  .object({
    type: z.literal('tool_use'),
    turn_id: TurnId,
    index: Count.describe('Position among the blocks of the turn, or among the inner calls of one call'),
    tool_use: ToolUseBlock,
    provider_id: ProviderId,
    parent_tool_use_id: ParentCall,
    open: z.literal(true).optional().describe('More blocks of the turn may come'),
    display: Display,
    activity: z.string().optional().describe('What the call does while it runs, for people: "Reading src/app.ts"'),
  })
  .describe('A block was accepted and queued');

export type InputPartialFrame = Wire<typeof InputPartialFrame>;
export const InputPartialFrame = z
  .object({
    type: z.literal('input_partial'),
    turn_id: TurnId,
    index: Count.describe('Position among the blocks of the turn'),
    tool_use_id: CallId,
    name: z.string().describe('The tool'),
    partial_input: JsonRecord.describe('The part of the input that has arrived'),
    display: Display,
  })
  .describe('A block is still streaming in: the part that has arrived. May be left out for slow readers');

export type StateFrame = Wire<typeof StateFrame>;
export const StateFrame = z
  .object({
    type: z.literal('state'),
    tool_use_id: CallId,
    parent_tool_use_id: ParentCall,
    state: z.enum(['executing', 'completed']).describe('`executing` begins with the gate'),
  })
  .describe('A call moved on');

export type StartedFrame = Wire<typeof StartedFrame>;
export const StartedFrame = z
  .object({ type: z.literal('started'), tool_use_id: CallId, parent_tool_use_id: ParentCall })
  .describe('The gate was passed: side effects may begin');

export type ProgressFrame = Wire<typeof ProgressFrame>;
export const ProgressFrame = z
  .object({
    type: z.literal('progress'),
    tool_use_id: CallId,
    parent_tool_use_id: ParentCall,
    n: Piece,
    data: openObject({ type: z.string() }).describe(
      'What is new. `type` is `bash`, `repl`, `task`, `agent`, `mcp`, `hook`, `bytes`, `status`, or one of a plugin',
    ),
    display: Display.optional(),
  })
  .describe('A running call has news. May be left out for slow readers');

export type PermissionRequestFrame = Wire<typeof PermissionRequestFrame>;
export const PermissionRequestFrame = z
  .object({
    type: z.literal('permission_request'),
    request_id: IdSchema.describe('The question; an answer names it'),
    tool_use_id: CallId,
    parent_tool_use_id: ParentCall,
    session_id: ChildSession,
    tool_name: z.string().describe('The tool'),
    input: Json.describe('The input that is asked about'),
    title: z.string().describe('Why the question is asked'),
    description: z.string().optional().describe('One line of the tool about the call; it may hold words of the model'),
    display: Display,
    reason: DecisionReason.describe('Why the gate asks'),
    destructive: z.boolean().describe('The call may destroy something'),
    warnings: Texts.describe('What makes the call dangerous, one sentence each'),
    suggestions: z.array(PermissionUpdate).describe('Updates that "always allow" would make'),
    expires_at: Time.describe('When the question ends without an answer'),
    approvals: z
      .object({ needed: Count, by: Texts })
      .optional()
      .describe('How many principals must allow the call, and which have; present where more than one must'),
  })
  .describe('A question to the clients that may answer');

export type PermissionResolvedFrame = Wire<typeof PermissionResolvedFrame>;
export const PermissionResolvedFrame = z
  .object({
    type: z.literal('permission_resolved'),
    request_id: IdSchema.describe('The question'),
    tool_use_id: CallId,
    parent_tool_use_id: ParentCall,
    session_id: ChildSession,
    behavior: z.enum(['allow', 'deny']).describe('The decision'),
    by: z.string().describe('Principal that answered, or `timeout`, `rule`, `cancelled`'),
    handed_in: z
      .literal(true)
      .optional()
      .describe('The answer came with the call, so the question was never asked: it has no `permission_request`'),
    reason: z.string().describe('Why, in words'),
  })
  .describe('A question was answered, settled by a new rule, withdrawn, or has expired');

export type ResultFrame = Wire<typeof ResultFrame>;
export const ResultFrame = z
  .object({
    type: z.literal('result'),
    turn_id: TurnId,
    index: Count.describe('Position as in `tool_use`'),
    tool_use_id: CallId,
    parent_tool_use_id: ParentCall,
    tool_result: ToolResultBlock.describe('The result, for the model'),
    call: CallSummary,
    decision: DecisionSummary.optional().describe(
      'How the gate decided; absent where the call ended before there was a decision',
    ),
    display: Display,
    condensed: Display.optional().describe('The same in a line or two'),
    new_messages: z.array(NewMessage).optional().describe('What the tool adds to the conversation after the results'),
    mcp_result: JsonRecord.optional().describe(
      'Answer of an MCP server as it came, where the result for the model leaves parts of it out; at most 1 MiB',
    ),
  })
  .describe('The result of a call. Results leave in the order in which the blocks were accepted');

export type TurnClosedFrame = Wire<typeof TurnClosedFrame>;
export const TurnClosedFrame = z
  .object({ type: z.literal('turn_closed'), turn_id: TurnId })
  .describe('No more blocks come in a turn that was open, and some of its calls have no result yet');

export type TurnEndFrame = Wire<typeof TurnEndFrame>;
export const TurnEndFrame = z
  .object({
    type: z.literal('turn_end'),
    turn_id: TurnId,
    calls: z.array(CallSummary).describe('The calls of the turn, in block order'),
  })
  .describe('All results of the turn were sent');

export type ContextFrame = Wire<typeof ContextFrame>;
export const ContextFrame = z
  .object({
    type: z.literal('context'),
    version: Count.describe('Version of the permission context'),
    permission_context: WirePermissionContext.describe('What the session may do from now on'),
    cwd: z.string().describe('Working directory'),
    root: z.string().optional().describe('Folder that `cwd` starts from; present where `opened` names another'),
    tool_mode: Mode.optional().describe('Present where `opened` names another'),
    worktree: WorktreePlace.optional(),
    tool_state: z
      .record(z.string(), Json)
      .optional()
      .describe('State that tools keep, by name; present when it changed'),
  })
  .describe('What the session may do changed, or where it works');

export type ChangeFrame = Wire<typeof ChangeFrame>;
export const ChangeFrame = z
  .object({ type: z.literal('change'), tool_use_id: CallId, parent_tool_use_id: ParentCall, ...FileChange.shape })
  .describe(
    'A call changes a file; sent before the file is touched, where the change is foreseen. Of several frames of one call about one path that start from the same bytes, the last holds',
  );

export type UndoneFile = Wire<typeof UndoneFile>;
export const UndoneFile = z.object({
  path: z.string(),
  kind: ChangeKind.describe('What the undo did; `none`: the file was as wanted already'),
  state: FileState.optional().describe('The file now; absent where there is none'),
  changes: z.array(SeqSchema).describe('`seq` of the changes that were taken back'),
});

export type UndoFrame = Wire<typeof UndoFrame>;
export const UndoFrame = z
  .object({
    type: z.literal('undo'),
    to_seq: Count.optional().describe('Everything changed after this frame was taken back'),
    tool_use_id: CallIdSchema.optional().describe('The call whose changes were taken back'),
    by: z.string().describe('Principal that asked for it'),
    files: z.array(UndoneFile).describe('Files that were put back'),
    left: z
      .array(z.object({ path: z.string(), reason: z.string() }))
      .describe('Files that stay as they are, since one of their changes cannot be undone'),
  })
  .describe('Files were put back as they had been before a call, or after a frame');

/** End of a task. */
export type TaskStatus = TaskEndedFrame['status'];

export type TaskStartedFrame = Wire<typeof TaskStartedFrame>;
export const TaskStartedFrame = z
  .object({
    type: z.literal('task_started'),
    task_id: TaskId,
    tool_use_id: CallIdSchema.describe('The call that started it'),
    kind: z.string().describe('Sort of task, such as `bash`'),
    description: z.string().describe('What the task does, for people'),
    output_path: z.string().optional().describe('Absolute path of the file that takes the whole output'),
  })
  .describe('A task begins: work that goes on when its call has ended. It begins when this frame is on disk');

export type TaskOutputFrame = Wire<typeof TaskOutputFrame>;
export const TaskOutputFrame = z
  .object({
    type: z.literal('task_output'),
    task_id: TaskId,
    n: Piece,
    text: z.string().describe('The output that is new; where much comes at once, its end'),
  })
  .describe('A task wrote something. May be left out for slow readers');

export type TaskEndedFrame = Wire<typeof TaskEndedFrame>;
export const TaskEndedFrame = z
  .object({
    type: z.literal('task_ended'),
    task_id: TaskId,
    status: z
      .enum(['completed', 'failed', 'killed', 'interrupted'])
      .describe('`killed`: it was stopped; `interrupted`: it ended with the server'),
    exit_code: z.int().optional().describe('Exit code of the program'),
    note: z.string().optional().describe('A sentence about the end'),
  })
  .describe('A task ended; sent once for each task that started');

export type ToolsChangedFrame = Wire<typeof ToolsChangedFrame>;
export const ToolsChangedFrame = z
  .object({
    type: z.literal('tools_changed'),
    prefix_sha256: z.string().describe('Digest of the built-in part of the list'),
    built_in_count: Count.describe('Built-in tools'),
    mcp_count: Count.describe('Tools of MCP servers and plugins'),
  })
  .describe('The tool list of the session changed');

export type NoticeFrame = Wire<typeof NoticeFrame>;
export const NoticeFrame = z
  .object({
    type: z.literal('notice'),
    level: z.enum(['info', 'warning', 'error']).describe('How much it matters'),
    code: z.string().describe('What it is about, as one word'),
    message: z.string().describe('A sentence for people'),
    cancelled: Texts.optional().describe('Calls that an `interrupt` cancelled'),
    continuing: Texts.optional().describe('Calls that an `interrupt` let go on'),
  })
  .describe('Something a person may want to know');

/** Log frames by the names of their schemas. */
export const LOG_FRAMES = {
  OpenedFrame,
  ToolUseFrame,
  InputPartialFrame,
  StateFrame,
  StartedFrame,
  ProgressFrame,
  PermissionRequestFrame,
  PermissionResolvedFrame,
  ResultFrame,
  TurnClosedFrame,
  TurnEndFrame,
  ContextFrame,
  ChangeFrame,
  UndoFrame,
  TaskStartedFrame,
  TaskOutputFrame,
  TaskEndedFrame,
  ToolsChangedFrame,
  NoticeFrame,
};

/** Frame before it is appended; the log adds `seq` and `ts`. */
export type NewFrame = Wire<(typeof LOG_FRAMES)[keyof typeof LOG_FRAMES]>;

/** The fields that the log gives a frame. */
export const FramePosition = z.object({ seq: SeqSchema, ts: Time.describe('When the log took the frame') });

/** A frame as it is stored in the log and sent to clients. */
export type Frame = NewFrame & Wire<typeof FramePosition>;
