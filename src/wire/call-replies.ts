/**
 * Replies about calls: what they came to, what they changed, and what an undo did.
 */
import * as z from 'zod';
import { CallIdSchema, IdSchema } from './block-schema.ts';
import { NewMessage, ToolResultBlock } from './blocks.ts';
import { DiffHunk } from './display.ts';
import { FileChange } from './file-change.ts';
import { CallSummary, ChangeFrame, FramePosition, SeqSchema, UndoFrame } from './frames.ts';
import { Count, JsonRecord } from './values.ts';
import type { Wire } from './wire-type.ts';

/** A part of a user message of Chat Completions. */
export type ChatPart = Wire<typeof ChatPart>;
export const ChatPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
  z.object({ type: z.literal('file'), file: z.object({ filename: z.string(), file_data: z.string() }) }),
]);

/** Results as messages of Chat Completions: one a call, then their images and documents. */
export type ChatMessage = Wire<typeof ChatMessage>;
export const ChatMessage = z.discriminatedUnion('role', [
  z.object({ role: z.literal('tool'), tool_call_id: z.string(), content: z.string() }),
  z.object({ role: z.literal('user'), content: z.array(ChatPart) }),
]);

/** A result in the words of Gemini. */
const GeminiResponse = z.object({ id: CallIdSchema, name: z.string(), response: z.record(z.string(), z.string()) });

/** A part of a content of Gemini. */
export type GeminiPart = Wire<typeof GeminiPart>;
export const GeminiPart = z.union([
  z.object({ functionResponse: GeminiResponse }),
  z.object({ text: z.string() }),
  z.object({ inlineData: z.object({ mimeType: z.string(), data: z.string() }) }),
]);

/** Results as a content of Gemini. */
export type GeminiContent = Wire<typeof GeminiContent>;
export const GeminiContent = z.object({ role: z.literal('user'), parts: z.array(GeminiPart) });

/** A part of a result in the words of OpenAI Responses. */
export type ResponsesPart = Wire<typeof ResponsesPart>;
export const ResponsesPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input_text'), text: z.string() }),
  z.object({ type: z.literal('input_image'), image_url: z.string(), detail: z.literal('auto') }),
  z.object({ type: z.literal('input_file'), filename: z.string(), file_data: z.string() }),
]);

/** A result as an input item of OpenAI Responses. */
export type FunctionCallOutput = Wire<typeof FunctionCallOutput>;
export const FunctionCallOutput = z.object({
  type: z.literal('function_call_output'),
  call_id: z.string(),
  output: z.union([z.string(), z.array(ResponsesPart)]),
});

/** The reply to `POST /execute`. */
export const Execution = z.object({
  session_id: IdSchema,
  turn_id: IdSchema,
  results: z.array(ToolResultBlock).describe('One for each block, in block order'),
  message: z
    .object({ role: z.literal('user'), content: z.array(ToolResultBlock) })
    .optional()
    .describe('The results as a message to append; present where `tool_uses` or `message` was sent'),
  messages: z.array(ChatMessage).optional().describe('The same where `tool_calls` was sent'),
  input: z.array(FunctionCallOutput).optional().describe('The same where `output` was sent'),
  function_responses: z.array(GeminiResponse).optional().describe('The same where `function_calls` was sent'),
  content: GeminiContent.optional().describe('The same as a content to append, where `function_calls` was sent'),
  assistant: z
    .union([JsonRecord, z.array(JsonRecord)])
    .optional()
    .describe(
      'Where `id_scope` is `turn`: the message of the assistant as it was sent, with the ids of `results`, to append before them; for `output` the list of its items',
    ),
  new_messages: z.array(NewMessage).optional().describe('What tools add to the conversation, after the results'),
  calls: z.array(CallSummary).describe('One for each block, in block order'),
});

/** A change of a file as it is listed. */
export type ListedChange = Wire<typeof ListedChange>;
export const ListedChange = ChangeFrame.pick({ tool_use_id: true, parent_tool_use_id: true }).extend({
  ...FramePosition.shape,
  tool_name: z.string().optional(),
  ...FileChange.shape,
  undone: z.boolean(),
  undone_by: SeqSchema.optional().describe('`seq` of the undo'),
  diff: z
    .object({ added: Count, removed: Count, hunks: z.array(DiffHunk) })
    .optional()
    .describe('The counts are of the whole change; of a long one, `hunks` holds the first lines'),
  diff_omitted: z
    .enum(['denied', 'too_large', 'binary', 'not_kept', 'too_slow'])
    .optional()
    .describe('Why there is no diff; `denied`: a rule hides the file from reading'),
});

/** A page of changes. */
export type ChangePage = Wire<typeof ChangePage>;
export const ChangePage = z.object({
  first: SeqSchema.describe('The oldest frame that is kept: changes before it are forgotten'),
  changes: z.array(ListedChange).describe('Oldest first'),
  next_from_seq: SeqSchema.optional().describe('`from_seq` of the next page; absent at the end'),
});

/** Result of an undo. */
export type UndoReply = Wire<typeof UndoReply>;
export const UndoReply = UndoFrame.pick({ files: true, left: true }).extend({
  seq: SeqSchema.optional().describe('The frame `undo`; absent where there was nothing to undo'),
  dry_run: z.literal(true).optional().describe('Nothing was done: `files` is what the undo would do'),
});
