/**
 * The blocks that come in and go out, in the shapes of the Anthropic Messages API.
 *
 * Wire shapes are kept as they are, snake case included: a block is logged and echoed unchanged.
 */
import * as z from 'zod';
import { CallIdSchema, TOOL_USE_FIELDS } from './block-schema.ts';
import { openObject, type Wire } from './wire-type.ts';

/** A call that a model wants made, as it came: logged, never changed, the fields of the model's vendor included. */
export type ToolUseBlock = Wire<typeof ToolUseBlock>;
export const ToolUseBlock = openObject(TOOL_USE_FIELDS).describe(
  'A call that a model wants made, as it was sent; it may have further fields of the vendor of the model',
);

const Base64Source = z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() });

/** Text for the model. */
export type TextBlock = Wire<typeof TextBlock>;
export const TextBlock = z.object({ type: z.literal('text'), text: z.string() });

/** An image for the model. */
export type ImageBlock = Wire<typeof ImageBlock>;
export const ImageBlock = z.object({ type: z.literal('image'), source: Base64Source });

/** A PDF for the model. */
export type DocumentBlock = Wire<typeof DocumentBlock>;
export const DocumentBlock = z.object({
  type: z.literal('document'),
  source: Base64Source,
  title: z.string().optional(),
});

/** A deferred tool whose schema the client may now load. */
export type ToolReferenceBlock = Wire<typeof ToolReferenceBlock>;
export const ToolReferenceBlock = z
  .object({ type: z.literal('tool_reference'), tool_name: z.string() })
  .describe('A deferred tool whose schema may now be loaded');

/** A block inside a `tool_result`. */
export type ResultContentBlock = Wire<typeof ResultContentBlock>;
export const ResultContentBlock = z.discriminatedUnion('type', [
  TextBlock,
  ImageBlock,
  DocumentBlock,
  ToolReferenceBlock,
]);

const Content = z.union([z.string(), z.array(ResultContentBlock)]);

/** The result of a call, for the model. */
export type ToolResultBlock = Wire<typeof ToolResultBlock>;
export const ToolResultBlock = z.object({
  type: z.literal('tool_result'),
  tool_use_id: CallIdSchema,
  content: Content,
  is_error: z.boolean().optional(),
});

/** A message that a tool adds to the conversation after the results. */
export type NewMessage = Wire<typeof NewMessage>;
export const NewMessage = z.object({ role: z.enum(['user', 'assistant']), content: Content });

/** Another block of a message, such as a model's thinking; stored unchanged. */
export interface ForeignBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

/**
 * The assistant message a call came from, as it was posted, or as far as it had streamed in when the call's block was
 * complete. Where only blocks were posted, and after a restart, it holds the blocks alone.
 */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly (ToolUseBlock | TextBlock | ForeignBlock)[];
}

/** A text too long for a result, written whole to the session's folder. */
export interface SpilledText {
  /** Absolute. */
  readonly path: string;
  /** UTF-16 code units. */
  readonly chars: number;
}
