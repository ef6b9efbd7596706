/**
 * Zod schemas of calls and their results in replies. Each is checked against its type; a reply may have more fields.
 */
import { z } from 'zod';
import type { ResultContentBlock, ToolResultBlock } from '../../src/wire/blocks.ts';
import type { FileState } from '../../src/wire/file-change.ts';
import type { CallSummary } from '../../src/wire/frames.ts';
import type { ChangePage, ListedChange } from '../../src/session/changes/list-changes.ts';
import type { UndoReply } from '../../src/session/changes/undo.ts';

const Count = z.int().min(0);
const Seq = z.int().min(1).describe('Position in the log of the session');
const Source = z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() });

const ContentBlock: z.ZodType<ResultContentBlock> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), source: Source }),
  z.object({ type: z.literal('document'), source: Source, title: z.string().optional() }),
  z.object({ type: z.literal('tool_reference'), tool_name: z.string() }),
]);
const Content = z.union([z.string(), z.array(ContentBlock)]);

const ToolResult: z.ZodType<ToolResultBlock> = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: Content,
  is_error: z.boolean().optional(),
});

const Call: z.ZodType<CallSummary> = z.object({
  tool_use_id: z.string(),
  name: z.string(),
  status: z.enum(['ok', 'denied', 'error', 'cancelled', 'interrupted']),
  error_code: z
    .enum([
      'permission_denied',
      'hook_blocked',
      'unknown_tool',
      'invalid_input',
      'contained',
      'tool_failed',
      'timeout',
      'output_limit',
      'resource_exhausted',
      'cancelled',
      'sibling_aborted',
      'discarded',
      'interrupted',
    ])
    .optional(),
  duration_ms: z.number().min(0),
  result_chars: Count,
  spilled: z.object({ chars: Count, path: z.string(), url: z.string() }).optional(),
  replayed: z.boolean().optional().describe('The stored result of an earlier run'),
});

const Execution = z.object({
  session_id: z.string(),
  turn_id: z.string(),
  results: z.array(ToolResult).describe('One a block, in block order'),
  message: z
    .object({ role: z.literal('user'), content: z.array(ToolResult) })
    .optional()
    .describe('Asked with tool_uses or message'),
  messages: z
    .array(z.object({ role: z.literal('tool'), tool_call_id: z.string(), content: z.string() }))
    .optional()
    .describe('Asked with tool_calls'),
  input: z
    .array(
      z.object({
        type: z.literal('function_call_output'),
        call_id: z.string(),
        output: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
      }),
    )
    .optional()
    .describe('Asked with output'),
  new_messages: z
    .array(z.object({ role: z.enum(['user', 'assistant']), content: Content }))
    .optional()
    .describe('What tools add to the conversation, after the results'),
  calls: z.array(Call),
});

const ResultText = z.object({
  text: z.string(),
  total_chars: Count,
  offset_chars: Count,
  next_offset_chars: Count.optional().describe('Absent at the end'),
});

const SearchHits = z.object({ hits: z.array(z.object({ seq: Seq, tool_use_id: z.string(), snippet: z.string() })) });

const State: z.ZodType<FileState> = z.object({
  sha256: z.string().optional(),
  size_bytes: Count,
  mode: z.string().describe('Permission bits in octal'),
});
const Kind = z.enum(['created', 'modified', 'deleted', 'none']);

const Change: z.ZodType<ListedChange> = z.object({
  seq: Seq,
  ts: z.iso.datetime(),
  tool_use_id: z.string(),
  tool_name: z.string().optional(),
  path: z.string(),
  kind: Kind,
  before: State.optional(),
  after: State.optional(),
  folders: z.array(z.string()).optional(),
  undoable: z.boolean(),
  reason: z.enum(['too_large', 'history_full', 'disk_full', 'disk_error', 'not_foreseen']).optional(),
  undone: z.boolean(),
  undone_by: Seq.optional(),
  diff: z
    .object({
      added: Count,
      removed: Count,
      hunks: z.array(
        z.object({
          old_start: Count,
          old_lines: Count,
          new_start: Count,
          new_lines: Count,
          lines: z.array(z.string()),
        }),
      ),
    })
    .optional(),
  diff_omitted: z.string().optional(),
});

const Changes: z.ZodType<ChangePage> = z.object({
  first: Seq,
  changes: z.array(Change),
  next_from_seq: Seq.optional().describe('Absent at the end'),
});

const Undone: z.ZodType<UndoReply> = z.object({
  seq: Seq.optional().describe('Absent where there was nothing to take back'),
  files: z.array(z.object({ path: z.string(), kind: Kind, state: State.optional(), changes: z.array(Seq) })),
  left: z.array(z.object({ path: z.string(), reason: z.string() })),
});

/** Reply schemas about calls, by their name in `/openapi.json`. */
export const CALL_SHAPES = { ToolResult, Call, Execution, ResultText, SearchHits, Changes, Undone };
