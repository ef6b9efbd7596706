/**
 * Reads the calls of a model, in the form of any of its APIs, and gives each an id that is unique in the session.
 */
import { GauntletError } from './errors.ts';
import type { ToolUseBlock } from './wire.ts';

/** API that calls came from; results go back in its form. */
export type Provider = 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini';

/** A call as its provider made it. */
export interface Call {
  /** Absent where the provider gives none. */
  readonly id?: string;
  readonly name: string;
  readonly input: unknown;
}

/** A block of the Messages API, other kinds included. */
export interface AnthropicBlock {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
}

/** A message of the Messages API. */
export interface AnthropicMessage {
  readonly content: string | readonly AnthropicBlock[];
}

/** A call of Chat Completions. */
export interface ChatToolCall {
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name: string; readonly arguments: unknown };
}

/** A message of Chat Completions. */
export interface ChatMessage {
  readonly role: 'assistant';
  readonly tool_calls?: readonly ChatToolCall[] | null;
}

/** An output item of Responses, other kinds included. */
export interface ResponsesItem {
  readonly type: string;
  readonly call_id?: string | null;
  readonly name?: string | null;
  readonly arguments?: unknown;
}

/** A call of the Gemini API. */
export interface GeminiCall {
  readonly id?: string;
  readonly name?: string;
  readonly args?: Record<string, unknown>;
}

/** Calls in the form of one API. */
export type CallSource =
  | { readonly tool_uses: readonly AnthropicBlock[] }
  | { readonly message: AnthropicMessage }
  | { readonly tool_calls: readonly ChatToolCall[] | null | undefined }
  | { readonly output: readonly ResponsesItem[] }
  | { readonly function_calls: readonly GeminiCall[] | undefined };

/** Calls, and the message that holds them where tools may want it. */
export interface GivenCalls {
  readonly provider: Provider;
  readonly calls: readonly Call[];
  readonly content?: readonly AnthropicBlock[];
}

/** Read the calls. @throws {GauntletError} `invalid_request` where no field holds any. */
export function readCalls(source: CallSource): GivenCalls {
  if ('tool_uses' in source) return { provider: 'anthropic', calls: source.tool_uses.flatMap(fromBlock) };
  if ('message' in source) {
    const content = typeof source.message.content === 'string' ? [] : source.message.content;
    return { provider: 'anthropic', calls: content.flatMap(fromBlock), content };
  }
  if ('tool_calls' in source) {
    const calls = (source.tool_calls ?? []).flatMap(({ id, function: called }): Call[] =>
      called === undefined ? [] : [{ id, name: called.name, input: parseArguments(called.arguments) }],
    );
    return { provider: 'openai-chat', calls };
  }
  if ('output' in source) {
    const calls = source.output.flatMap(({ type, call_id, name, arguments: text }): Call[] =>
      type === 'function_call' ? [{ id: call_id ?? undefined, name: name ?? '', input: parseArguments(text) }] : [],
    );
    return { provider: 'openai-responses', calls };
  }
  if ('function_calls' in source) {
    const calls = (source.function_calls ?? []).map(({ id, name = '', args = {} }): Call => ({
      id,
      name,
      input: args,
    }));
    return { provider: 'gemini', calls };
  }
  const fields = '"tool_uses", "message", "tool_calls", "output" or "function_calls"';
  throw new GauntletError('invalid_request', `Cannot read the calls: hand execute() an object with ${fields}`);
}

/** Parse arguments. What is not JSON stays text, which the server refuses as the input of that call. */
export function parseArguments(text: unknown): unknown {
  if (typeof text !== 'string') return text ?? {};
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    // The model wrote it; it is told by the result.
    return text;
  }
}

/** Ids of this length are random enough to be unique; shorter ones may count from zero in each turn. */
const UNIQUE_ID_CHARS = 20;

/**
 * Give each call an id for the server.
 *
 * Ids that the provider made unique are kept, so that the same message, sent again, runs nothing twice. Others are made
 * of the turn and the position, which does the same where the caller names the turn.
 */
export function idsFor(calls: readonly Call[], turnId: string): readonly string[] {
  const taken = new Set<string>();
  return calls.map(({ id = '' }, index) => {
    const isUnique = id.length >= UNIQUE_ID_CHARS && /^[A-Za-z0-9_-]{1,128}$/.test(id) && !taken.has(id);
    const given = isUnique ? id : `${turnId}_${index}`;
    taken.add(given);
    return given;
  });
}

/** Make an id that nobody else has. */
export function newId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll('-', '')}`;
}

/** Make the block of a call. */
export function toBlock({ name, input }: Call, id: string): ToolUseBlock {
  // Checked by the server: what a model wrote need not be an object.
  return { type: 'tool_use', id, name, input: input as ToolUseBlock['input'] };
}

function fromBlock({ type, id, name = '', input = {} }: AnthropicBlock): Call[] {
  return type === 'tool_use' ? [{ id, name, input }] : [];
}
