/**
 * The blocks that come in and go out, in the shapes of the Anthropic Messages API.
 *
 * Wire shapes are kept as they are, snake case included: a block is logged and echoed unchanged.
 */
import type { JsonValue } from '../base/json.ts';

/**
 * A call a model wants made. `input` is the block as it came: logged, never changed. So is whatever else the model's
 * vendor put beside these fields.
 */
export interface ToolUseBlock {
  readonly type: 'tool_use';
  /** `^[A-Za-z0-9_-]{1,128}$`, unique in its session. */
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
}

/** Text for the model. */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** An image for the model, base64. */
export interface ImageBlock {
  readonly type: 'image';
  readonly source: { readonly type: 'base64'; readonly media_type: string; readonly data: string };
}

/** A PDF for the model, base64. */
export interface DocumentBlock {
  readonly type: 'document';
  readonly source: { readonly type: 'base64'; readonly media_type: string; readonly data: string };
  readonly title?: string;
}

/** A deferred tool whose schema the client may now load. */
export interface ToolReferenceBlock {
  readonly type: 'tool_reference';
  readonly tool_name: string;
}

/** What may stand inside a `tool_result`. */
export type ResultContentBlock = TextBlock | ImageBlock | DocumentBlock | ToolReferenceBlock;

/** What a call came to, for the model. */
export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string | readonly ResultContentBlock[];
  readonly is_error?: boolean;
}

/** A block of a message that is none of ours, such as a model's thinking: kept as it came. */
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

/** A message a tool adds to the conversation after the results. */
export interface NewMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly ResultContentBlock[];
}

/** A text too long for a result, written whole to the session's folder. */
export interface SpilledText {
  /** Absolute. */
  readonly path: string;
  /** UTF-16 code units. */
  readonly chars: number;
}

/** All text of a result, text blocks joined by line ends; images and documents count as nothing. */
export function resultText(content: ToolResultBlock['content']): string {
  if (typeof content === 'string') return content;
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
