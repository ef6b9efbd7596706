/**
 * Replies about a session: its state, permissions, questions, background tasks and log.
 */
import * as z from 'zod';
import { CallIdSchema, IdSchema } from './block-schema.ts';
import { DecisionPart, DecisionReason } from './decision.ts';
import {
  CallSummary,
  OpenedFrame,
  PermissionRequestFrame,
  SeqSchema,
  TaskEndedFrame,
  TaskStartedFrame,
} from './frames.ts';
import { PermissionUpdate, WirePermissionContext } from './permission-context.ts';
import { RULE_BEHAVIORS, TOOL_MODES } from './permission-names.ts';
import { PermissionModeSchema } from './permission-schemas.ts';
import { Count, Texts, Time } from './values.ts';
import type { Wire } from './wire-type.ts';

/** Warnings in replies to a request that sent rules. */
const Warnings = Texts.optional().describe(
  'Rules that were sent and can never decide anything; absent where there are none',
);

/** A call without a result. */
export type RunningCall = Wire<typeof RunningCall>;
export const RunningCall = z.object({
  tool_use_id: CallIdSchema,
  name: z.string().describe('The tool'),
  turn_id: IdSchema,
  parent_tool_use_id: CallIdSchema.optional().describe('The call that made this one; present for an inner call'),
  state: z.enum(['queued', 'executing', 'completed', 'yielded']),
});

/** A session as it stands. */
export type SessionDescription = Wire<typeof SessionDescription>;
export const SessionDescription = z.object({
  session_id: IdSchema,
  cwd: z.string().describe('Working directory'),
  mode: PermissionModeSchema,
  tool_mode: z.enum(TOOL_MODES),
  permission_context: WirePermissionContext,
  created_at: Time,
  last_activity_at: Time.describe('When its log last grew'),
  title: z.string().optional(),
  archived: z.boolean().describe('Left out of the list unless asked for'),
  on_ask: z
    .enum(['deny', 'wait'])
    .optional()
    .describe('What happens to a question when no connected client may answer'),
  id_scope: OpenedFrame.shape.id_scope,
  tool_search: OpenedFrame.shape.tool_search,
  tools: Texts.optional().describe('The only tools that the session sees'),
  output_schema: OpenedFrame.shape.output_schema,
  parent: OpenedFrame.shape.parent,
  state: z.enum(['idle', 'running', 'waiting']).describe('`waiting`: a person has to answer'),
  head: Count.describe('The last frame of its log'),
  running: z
    .array(RunningCall)
    .describe('Calls without a result, in order of acceptance; inner calls behind all others'),
});

/** A session that was begun. */
export const NewSession = SessionDescription.extend({ warnings: Warnings });

/** A page of sessions. */
export const Sessions = z.object({
  sessions: z.array(SessionDescription),
  next_cursor: z.string().optional().describe('Absent on the last page'),
});

/** A permission context after a change. */
export const ChangedPermissions = WirePermissionContext.extend({ warnings: Warnings });

/** A decision as `permissions/explain` tells it. */
export type WireExplanation = Wire<typeof WireExplanation>;
export const WireExplanation = z.object({
  behavior: z.enum(RULE_BEHAVIORS),
  reason: DecisionReason,
  message: z.string(),
  read_only: z.boolean(),
  concurrency_safe: z.boolean(),
  destructive: z.boolean(),
  warnings: Texts.describe('What makes the call dangerous, one sentence each'),
  suggestions: z.array(PermissionUpdate).describe('Updates that "always allow" would make'),
  allowed_by: Texts.optional().describe('Rules that would allow the call; absent where none would'),
  parts: z.array(DecisionPart).optional().describe('The parts of a compound command'),
  containment: z
    .enum(['jail', 'words'])
    .optional()
    .describe('What holds a command that passes because it only reads: the kernel, or its words alone'),
  digest: z.string().describe('Digest of the name and the input: `digest` of an approval of this call'),
  context_version: Count.describe('Version of the permission context: `context_version` of an approval of this call'),
});

/** A call of the history as it would be decided. */
export type TestedCall = Wire<typeof TestedCall>;
const Decided = z.object({ behavior: z.enum(RULE_BEHAVIORS), reason: DecisionReason });
export const TestedCall = z.object({
  seq: SeqSchema.describe('Its frame `tool_use`'),
  tool_use_id: CallIdSchema,
  name: z.string().describe('The tool'),
  text: z.string().describe('The tool and the texts of the input, cut'),
  before: Decided.describe('Under the permissions of the session'),
  after: Decided.describe('Under those that were sent'),
  changed: z.boolean().describe('`behavior` differs'),
});

/** The latest calls under permissions that were sent to be tested. */
export type TestedPermissions = Wire<typeof TestedPermissions>;
export const TestedPermissions = z.object({
  calls: z.array(TestedCall).describe('Newest first'),
  changed: Count.describe('How many of them would be decided differently'),
  left_out: Count.describe('Calls that no tool of the session takes'),
  complete: z.boolean().describe('False: there was not time for all of them'),
});

/** Open questions. */
export const Prompts = z.object({ prompts: z.array(PermissionRequestFrame) });

/** Open questions of several sessions. */
export type AllPrompts = Wire<typeof AllPrompts>;
export const AllPrompts = z.object({
  prompts: z.array(PermissionRequestFrame.extend({ session_id: IdSchema.describe('The session that asks') })),
});

/** The outcome of an answer to a question. */
export type Answered = Wire<typeof Answered>;
export const Answered = z.object({
  behavior: z.enum(['allow', 'deny']),
  by: z.string().describe('Principal that answered'),
  pending: z.literal(true).optional().describe('Another principal must allow the call, too'),
});

/** The reply to an answer. */
export const AnsweredReply = Answered.extend({ warnings: Warnings });

/** Calls that were cancelled. */
export const Cancelled = z.object({ cancelled: Texts.describe('Ids of calls') });

/** A ticket for a WebSocket. */
export const Ticket = z.object({ ticket: z.string(), expires_at: Time });

/** A background task. */
export type TaskDescription = Wire<typeof TaskDescription>;
export const TaskDescription = TaskStartedFrame.pick({
  task_id: true,
  tool_use_id: true,
  kind: true,
  description: true,
})
  .extend({
    state: z.enum(['running', ...TaskEndedFrame.shape.status.options]),
    started_at: Time,
    ended_at: Time.optional().describe('Absent while the task runs'),
    exit_code: TaskEndedFrame.shape.exit_code,
    note: TaskEndedFrame.shape.note,
  })
  .describe('A background task');

/** Background tasks. */
export const Tasks = z.object({
  tasks: z.array(TaskDescription).describe('Tasks that run, and the latest that have ended; the earliest start first'),
});

/** A part of a long text. */
export type ResultTextPage = Wire<typeof ResultTextPage>;
export const ResultTextPage = z.object({
  text: z.string(),
  total_chars: Count,
  offset_chars: Count,
  next_offset_chars: Count.optional().describe('Absent at the end'),
});

/** A call whose text matched a search. */
export type SearchHit = Wire<typeof SearchHit>;
export const SearchHit = z.object({ seq: SeqSchema, tool_use_id: CallIdSchema, snippet: z.string() });

/** The calls that a search found. */
export const SearchHits = z.object({ hits: z.array(SearchHit).describe('Oldest first') });

/** A call that a search of all sessions found. */
export type CallHit = Wire<typeof CallHit>;
export const CallHit = z.object({
  session_id: IdSchema,
  seq: SeqSchema.describe('The frame that matches: `tool_use` or `result`'),
  ts: Time,
  tool_use_id: CallIdSchema,
  name: z.string().describe('The tool'),
  status: CallSummary.shape.status.optional().describe('Absent while the call has no result'),
  matched: z.enum(['call', 'result']),
  excerpt: z.string().describe('The text around the match, or the beginning of the input'),
});

/** The calls that a search of all sessions found. */
export type CallHits = Wire<typeof CallHits>;
export const CallHits = z.object({
  hits: z.array(CallHit).describe('Newest first'),
  next_cursor: z.string().optional().describe('Absent at the beginning of the log'),
});

const PrincipalLimits = z
  .object({
    requests_per_second: z.number(),
    request_burst: z.number(),
    calls_at_once: z.number(),
    sessions_in_use: z.number(),
    streams: z.number(),
  })
  .describe('0: no bound');

/** The sender of a token. */
export const Principal = z.object({
  principal: z.string(),
  credential: z.object({ expires_at: Time }).optional().describe('Present where a credential of the console was sent'),
  roots: Texts.optional().describe('Folders that its sessions stay in; absent: they begin in the workspace'),
  max_mode: PermissionModeSchema.optional().describe('The mode that lets most through of those it may ask for'),
  may_answer: z.object({
    own: z.boolean().describe('Questions of its own sessions'),
    two_person: z.boolean().describe('Questions of others that want the yes of two'),
  }),
  limits: PrincipalLimits,
  version: z.string().describe('Of the server'),
});

/** All principals, for the owner. */
export const Principals = z.object({
  principals: z.array(
    z.object({
      principal: z.string(),
      roots: Principal.shape.roots,
      max_mode: Principal.shape.max_mode,
      limits: PrincipalLimits,
      sessions: z.object({
        open: Count.describe('In memory, those of agents included'),
        waiting: Count.describe('Those that wait for a person'),
      }),
      calls: Count.describe('Calls that have not ended'),
      tasks: Count.describe('Background tasks that run'),
    }),
  ),
});

/** Frames that were acknowledged and cannot be read any more. */
export type LogGap = Wire<typeof LogGap>;
export const LogGap = z.object({
  from: SeqSchema.describe('The first frame that is missing'),
  to: SeqSchema.describe('The last frame that is missing'),
  reason: z.enum(['retention', 'corrupt']).describe('`retention`: deleted for its age; `corrupt`: damaged on disk'),
});

/** Head of a page of frames. */
export type EventsHead = Wire<typeof EventsHead>;
export const EventsHead = z.object({
  epoch: z.string().describe('Identity of this log; a new one only when acknowledged frames were lost'),
  first: Count.describe('The oldest frame that is kept'),
  head: Count.describe('The last frame of the log'),
  up_to_date: z.boolean().describe('The page ends with the last frame of the log'),
  resumed: z.boolean().describe('False: the frame that was asked for is unknown, and the page begins with the first'),
  gaps: z.array(LogGap).optional(),
});
