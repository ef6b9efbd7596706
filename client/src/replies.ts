/**
 * Writes results in the form of the API that the calls came from.
 */
import type { Provider } from './calls.ts';
import type { NewMessage, ResultContentBlock, ToolResultBlock } from './wire.ts';

/** A user message of the Messages API. */
export interface AnthropicReplyMessage {
  role: 'user' | 'assistant';
  content: string | (AnthropicToolResult | Exclude<AnthropicContent, { type: 'tool_reference' }>)[];
}

/** A result of the Messages API. */
export interface AnthropicToolResult {
  type: 'tool_result';
  tool_use_id: string;
  content: string | AnthropicContent[];
  is_error?: boolean;
}

/** Content of a result or a message of the Messages API. */
export type AnthropicContent =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } }
  | { type: 'document'; source: { type: 'base64'; media_type: 'application/pdf'; data: string }; title?: string }
  | { type: 'tool_reference'; tool_name: string };

/** Images that models take. */
export type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

/** A message of Chat Completions. */
export type ChatReplyMessage =
  | { role: 'tool'; tool_call_id: string; content: string }
  | { role: 'user'; content: string | ChatPart[] }
  | { role: 'assistant'; content: string };

/** A part of a user message of Chat Completions. */
export type ChatPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'file'; file: { filename: string; file_data: string } };

/** An input item of Responses. */
export type ResponsesReplyItem =
  | { type: 'function_call_output'; call_id: string; output: string | ResponsesPart[] }
  | { type: 'message'; role: 'user' | 'assistant'; content: string };

/** A part of a result of Responses. */
export type ResponsesPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string };

/** A content of the Gemini API. */
export interface GeminiReplyContent {
  role: 'user' | 'model';
  parts: GeminiPart[];
}

/** A part of a content of the Gemini API. */
export type GeminiPart =
  | { text: string }
  | { inlineData: { mimeType: string; data: string } }
  | { functionResponse: { id?: string; name: string; response: Record<string, unknown> } };

/** By provider: what is appended to the conversation. */
export interface Appended {
  anthropic: AnthropicReplyMessage;
  'openai-chat': ChatReplyMessage;
  'openai-responses': ResponsesReplyItem;
  gemini: GeminiReplyContent;
}

/** A result, with the names that its provider needs. */
export interface NamedResult {
  readonly name: string;
  /** The provider's id; absent where it gave none. */
  readonly id?: string;
  readonly result: ToolResultBlock;
}

/** Write what is appended to the conversation. */
export function appendedFor<P extends Provider>(
  provider: P,
  results: readonly NamedResult[],
  newMessages: readonly NewMessage[],
): Appended[P][] {
  return WRITERS[provider](results, newMessages) as Appended[P][];
}

type Writer<P extends Provider> = (
  results: readonly NamedResult[],
  newMessages: readonly NewMessage[],
) => Appended[P][];

const WRITERS: { readonly [P in Provider]: Writer<P> } = {
  anthropic: (results, newMessages) => [
    ...(results.length === 0 ? [] : [{ role: 'user' as const, content: results.map(toAnthropicResult) }]),
    ...newMessages.map(({ role, content }) => ({ role, content: messageContent(content) })),
  ],
  'openai-chat': (results, newMessages) => {
    const files = results.flatMap(({ id, result }) => {
      const parts = filesOf(result.content).map(toChatPart);
      return parts.length === 0 ? [] : [{ type: 'text' as const, text: `Of call ${id ?? ''}:` }, ...parts];
    });
    return [
      ...results.map(({ id = '', result }) => toToolMessage(id, result)),
      // A tool message holds text alone.
      ...(files.length === 0 ? [] : [{ role: 'user' as const, content: files }]),
      ...newMessages.map(({ role, content }) => ({ role, content: textOf(content) })),
    ];
  },
  'openai-responses': (results, newMessages) => [
    ...results.map(({ id = '', result }) => ({
      type: 'function_call_output' as const,
      call_id: id,
      output: responsesOutput(result),
    })),
    ...newMessages.map(({ role, content }) => ({ type: 'message' as const, role, content: textOf(content) })),
  ],
  gemini: (results, newMessages) => [
    ...(results.length === 0 ? [] : [{ role: 'user' as const, parts: results.flatMap(toGeminiParts) }]),
    ...newMessages.map(({ role, content }) => ({
      role: role === 'user' ? ('user' as const) : ('model' as const),
      parts: [{ text: textOf(content) }, ...filesOf(content).map(toInlineData)],
    })),
  ],
};

/** The text of a content; the parts that are none are left out. */
export function textOf(content: ToolResultBlock['content']): string {
  if (typeof content === 'string') return content;
  return content
    .map((block) => (block.type === 'text' ? block.text : block.type === 'tool_reference' ? block.tool_name : ''))
    .filter(Boolean)
    .join('\n');
}

/** An image or a document of a result. */
export type FileBlock = Extract<ResultContentBlock, { readonly type: 'image' | 'document' }>;

/** The images and documents of a content. */
export function filesOf(content: ToolResultBlock['content']): readonly FileBlock[] {
  if (typeof content === 'string') return [];
  return content.filter((block): block is FileBlock => block.type === 'image' || block.type === 'document');
}

/** A file as an address that holds it. */
export function dataUrl({ source }: FileBlock): string {
  return `data:${source.media_type};base64,${source.data}`;
}

/** A text that says of an error that it is one, where the form has no mark for it. */
export function markedText(content: ToolResultBlock['content'], isError: boolean | undefined): string {
  const text = textOf(content);
  return isError && !/^error\b/i.test(text) ? `Error: ${text}` : text;
}

/** The parts of a result in the Gemini API: files stand beside the response. */
export function toGeminiParts({ id, name, result }: NamedResult): GeminiPart[] {
  const response = result.is_error ? { error: textOf(result.content) } : { output: textOf(result.content) };
  const functionResponse = { ...(id !== undefined && { id }), name, response };
  return [{ functionResponse }, ...filesOf(result.content).map(toInlineData)];
}

/** The output of a result in Responses. */
export function responsesOutput(result: ToolResultBlock): string | ResponsesPart[] {
  const files = filesOf(result.content);
  const text = markedText(result.content, result.is_error);
  if (files.length === 0) return text;
  return [
    ...(text === '' ? [] : [{ type: 'input_text' as const, text }]),
    ...files.map((file): ResponsesPart =>
      file.type === 'image'
        ? { type: 'input_image', image_url: dataUrl(file), detail: 'auto' }
        : { type: 'input_file', filename: fileName(file), file_data: dataUrl(file) },
    ),
  ];
}

/** The content of a result in the Messages API. */
export function anthropicContent(content: ToolResultBlock['content']): string | AnthropicContent[] {
  // The server sends images of these types alone, and documents that are PDFs.
  return typeof content === 'string' ? content : (content.map((block) => ({ ...block })) as AnthropicContent[]);
}

/** A message refers to no tools: they stand in results. */
function messageContent(content: NewMessage['content']): AnthropicReplyMessage['content'] {
  const parts = anthropicContent(content);
  return typeof parts === 'string' ? parts : parts.filter((part) => part.type !== 'tool_reference');
}

function toAnthropicResult({ id, result }: NamedResult): AnthropicToolResult {
  const { content, is_error } = result;
  return {
    type: 'tool_result',
    tool_use_id: id ?? result.tool_use_id,
    content: anthropicContent(content),
    ...(is_error && { is_error }),
  };
}

function toToolMessage(id: string, result: ToolResultBlock): ChatReplyMessage {
  const notes = filesOf(result.content).map(({ type }) => `[The ${type} is in the next message of the user]`);
  return {
    role: 'tool',
    tool_call_id: id,
    content: [markedText(result.content, result.is_error), ...notes].filter(Boolean).join('\n'),
  };
}

function toChatPart(file: FileBlock): ChatPart {
  if (file.type === 'image') return { type: 'image_url', image_url: { url: dataUrl(file) } };
  return { type: 'file', file: { filename: fileName(file), file_data: dataUrl(file) } };
}

function toInlineData({ source }: FileBlock): GeminiPart {
  return { inlineData: { mimeType: source.media_type, data: source.data } };
}

function fileName(file: FileBlock): string {
  return (file.type === 'document' && file.title) || 'document.pdf';
}
