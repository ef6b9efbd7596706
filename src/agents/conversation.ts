/**
 * Messages between an agent and its model, in the shapes of the Messages API; each wire converts them to its own.
 */
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { RunningTrace } from '../base/tracing.ts';
import type { ForeignBlock, ResultContentBlock, TextBlock, ToolResultBlock, ToolUseBlock } from '../wire/blocks.ts';

/** A block of a model's message. Other blocks, such as thinking, are sent back to the model unchanged. */
export type ReplyBlock = TextBlock | ToolUseBlock | ForeignBlock;

/** One message of the conversation. Results come first in the message after the one that made the calls. */
export type ConversationMessage =
  | { readonly role: 'user'; readonly content: readonly (ToolResultBlock | ResultContentBlock)[] }
  | { readonly role: 'assistant'; readonly content: readonly ReplyBlock[] };

/** A tool that the model may call. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** Request to a model. */
export interface ModelRequest {
  readonly system: string;
  readonly tools: readonly ModelTool[];
  readonly messages: readonly ConversationMessage[];
}

/** A call in a model's message. */
export interface ModelCall {
  /** The model's id: any text, not necessarily unique. */
  readonly id: string;
  readonly name: string;
  /** The text itself if it is not JSON. */
  readonly input: JsonValue;
}

/** Callbacks for a message while it streams in. */
export interface ReplyListener {
  readonly signal: AbortSignal;
  /** Trace that the request belongs to; absent where nothing is traced. */
  readonly trace?: RunningTrace | undefined;
  /** Called with each block of text when it is complete. */
  onText(text: string): void;
  /** Called with each call when its input is complete. */
  onCall(call: ModelCall): void;
}

/** Token counts of the provider. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Reason for the end of a message: complete, waiting for results, out of room, or refused. */
export type StopReason = 'end' | 'calls' | 'length' | 'refusal';

/** A whole message of a model. */
export interface ModelReply {
  readonly content: readonly ReplyBlock[];
  readonly stop: StopReason;
  readonly usage: TokenUsage;
}

/** A model that answers requests. */
export interface Model {
  /** Name in the settings. */
  readonly name: string;
  /**
   * Ask for the next message.
   *
   * @returns The message; if its stream broke off after a complete call, the part that arrived.
   * @throws {GauntletError} `tool_failed`, `timeout` or `output_limit`, and the signal's reason.
   */
  reply(request: ModelRequest, listener: ReplyListener): Promise<ModelReply>;
}

/** All text of a message. */
export function replyText(content: readonly ReplyBlock[]): string {
  return content
    .flatMap((block) => (block.type === 'text' && typeof block.text === 'string' ? [block.text] : []))
    .join('\n')
    .trim();
}
