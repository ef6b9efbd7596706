/**
 * Zod schemas of sessions, permissions and tool lists in replies. Each is checked against its type.
 */
import { z } from 'zod';
import type { DecisionReason } from '../../src/wire/decision.ts';
import type { PermissionRequestFrame } from '../../src/wire/frames.ts';
import {
  PERMISSION_MODES,
  type PermissionUpdate,
  RULE_SOURCES,
  TOOL_MODES,
  type WirePermissionContext,
} from '../../src/wire/permission-context.ts';
import type { WireExplanation } from '../../src/permissions/explain.ts';
import type { Answered as AnsweredQuestion } from '../../src/permissions/questions.ts';
import type { SessionDescription } from '../../src/session/directory/describe-session.ts';
import type { TaskDescription } from '../../src/session/task-list.ts';

const Count = z.int().min(0);
const Mode = z.enum(PERMISSION_MODES);
const Texts = z.array(z.string());
const Behavior = z.enum(['allow', 'ask', 'deny']);

/** In replies to requests that contain rules. */
const warnings = Texts.optional().describe(
  'Rules that were sent and can never decide anything; absent where there are none',
);

const PermissionContext = z.object({
  version: z.int().min(1),
  mode: Mode,
  rules: z.partialRecord(z.enum(RULE_SOURCES), z.object({ allow: Texts, ask: Texts, deny: Texts })),
  additional_directories: Texts,
  is_bypass_available: z.boolean(),
  max_mode: Mode.optional(),
  avoid_prompts: z.boolean(),
}) satisfies z.ZodType<WirePermissionContext>;

const ChangedPermissions = PermissionContext.extend({ warnings });

const Session = z.object({
  session_id: z.string(),
  cwd: z.string(),
  mode: Mode,
  tool_mode: z.enum(TOOL_MODES),
  permission_context: PermissionContext,
  created_at: z.iso.datetime(),
  title: z.string().optional(),
  on_ask: z.enum(['deny', 'wait']).optional(),
  tools: Texts.optional().describe('The only tools that it sees'),
  output_schema: z.looseObject({}).optional().describe('JSON Schema of what StructuredOutput takes'),
  parent: z
    .object({ session_id: z.string(), tool_use_id: z.string() })
    .optional()
    .describe('Of a child session: the call that opened it'),
  state: z.enum(['idle', 'running']),
  head: Count.describe('The last frame of its log'),
  running: z.array(
    z.object({
      tool_use_id: z.string(),
      name: z.string(),
      turn_id: z.string(),
      parent_tool_use_id: z.string().optional(),
      state: z.string(),
    }),
  ),
}) satisfies z.ZodType<Omit<SessionDescription, 'output_schema'>>;

const NewSession = Session.extend({ warnings });

const Sessions = z.object({
  sessions: z.array(Session),
  next_cursor: z.string().optional().describe('Absent on the last page'),
});

const Reason: z.ZodType<DecisionReason> = z.object({
  type: z.enum(['rule', 'mode', 'safety_check', 'tool', 'read_only', 'hook', 'classifier', 'default', 'parse_error']),
  rule: z.string().optional(),
  source: z.enum(RULE_SOURCES).optional(),
  mode: Mode.optional(),
});

const Update: z.ZodType<PermissionUpdate> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('setMode'), mode: Mode }),
  z.object({ type: z.enum(['addRules', 'removeRules', 'replaceRules']), behavior: Behavior, rules: Texts }),
  z.object({ type: z.enum(['addDirectories', 'removeDirectories']), directories: Texts }),
]);

const Explanation: z.ZodType<WireExplanation> = z.object({
  behavior: Behavior,
  reason: Reason,
  message: z.string(),
  read_only: z.boolean(),
  concurrency_safe: z.boolean(),
  destructive: z.boolean(),
  warnings: Texts,
  suggestions: z.array(Update),
  allowed_by: z.array(z.string()).optional().describe('Rules that would allow it; absent where none would'),
  parts: z
    .array(z.object({ text: z.string(), behavior: Behavior, reason: Reason.optional() }))
    .optional()
    .describe('Of a compound command'),
});

const Prompt = z.object({
  type: z.literal('permission_request'),
  request_id: z.string(),
  tool_use_id: z.string(),
  parent_tool_use_id: z.string().optional().describe('The call that made the one that is asked about'),
  session_id: z.string().optional().describe('The child session that asks'),
  tool_name: z.string(),
  input: z.unknown(),
  title: z.string(),
  description: z.string().optional().describe('One line of the tool about the call'),
  display: z.looseObject({ title: z.string(), blocks: z.array(z.looseObject({ kind: z.string() })) }),
  reason: Reason,
  destructive: z.boolean(),
  warnings: Texts,
  suggestions: z.array(Update),
  expires_at: z.iso.datetime(),
  approvals: z.object({ needed: Count, by: Texts }).optional(),
}) satisfies z.ZodType<Omit<PermissionRequestFrame, 'display' | 'input'>>;

const Prompts = z.object({ prompts: z.array(Prompt) });
const Answered = z.object({
  behavior: z.enum(['allow', 'deny']),
  by: z.string(),
  pending: z.literal(true).optional().describe('Another principal has yet to say yes too'),
  warnings,
}) satisfies z.ZodType<AnsweredQuestion>;
const Cancelled = z.object({ cancelled: z.array(z.string()).describe('Ids of calls') });
const Ticket = z.object({ ticket: z.string(), expires_at: z.iso.datetime() });

const Task = z.object({
  task_id: z.string().describe('What TaskOutput and TaskStop take'),
  tool_use_id: z.string().describe('The call that started it'),
  kind: z.string(),
  description: z.string(),
  state: z.enum(['running', 'completed', 'failed', 'killed', 'interrupted']),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime().optional().describe('Absent while it runs'),
  exit_code: z.int().optional(),
  note: z.string().optional().describe('A sentence about the end'),
}) satisfies z.ZodType<TaskDescription>;
const Tasks = z.object({ tasks: z.array(Task).describe('Those that run, and the latest of those that have ended') });

const Frame = z.looseObject({ seq: z.int().min(1), ts: z.iso.datetime(), type: z.string() });
const Events = z.object({
  epoch: z.string(),
  first: Count,
  head: Count,
  up_to_date: z.boolean(),
  resumed: z.boolean(),
  gaps: z.array(z.object({ from: Count, to: Count, reason: z.enum(['retention', 'corrupt']) })).optional(),
  frames: z.array(Frame),
});

const Tools = z.object({
  tools: z.array(z.looseObject({})).describe('In the shape that `format` names'),
  built_in_count: Count,
  mcp_count: Count,
  session_count: Count.optional().describe('Tools of this session alone'),
  deferred_count: Count,
  prefix_sha256: z.string(),
});
const Tool = z.looseObject({ name: z.string(), description: z.string(), input_schema: z.looseObject({}) });

const Health = z.object({ status: z.string(), version: z.string() });
const Readiness = z.object({
  status: z.string(),
  containment: z
    .object({
      scope: z.enum(['off', 'reads', 'all']),
      reading: z.enum(['jail', 'words', 'asked']).describe('What holds commands that only read'),
      missing: z.string().optional().describe('Why there is no jail'),
    })
    .optional()
    .describe('With `?verbose`'),
});

/** Reply schemas about sessions and the server, by their name in `/openapi.json`. */
export const SESSION_SHAPES = {
  PermissionContext,
  ChangedPermissions,
  Session,
  NewSession,
  Sessions,
  Explanation,
  Prompt,
  Prompts,
  Answered,
  Cancelled,
  Ticket,
  Task,
  Tasks,
  Frame,
  Events,
  Tools,
  Tool,
  Health,
  Readiness,
};
