/**
 * Formats results as each API takes them back. A format without a mark for errors gets one in the text.
 */
import type {
  ChatMessage,
  ChatPart,
  FunctionCallOutput,
  GeminiContent,
  GeminiPart,
  ResponsesPart,
} from '../../src/wire/call-replies.ts';
import type { ResultContentBlock, ToolResultBlock } from '../../src/wire/blocks.ts';
import { referenceText, resultText } from '../../src/wire/result-text.ts';

/** Results of one reply. */
export interface RepliedResults {
  readonly results: readonly ToolResultBlock[];
  /** The results, already serialised. */
  readonly resultsJson: string;
  /** Names of the calls as they were sent, in the same order. */
  readonly names: readonly string[];
}

/** Format of a reply, matching that of the request. */
export interface ReplyFormat {
  /** Build the members that the client appends to its conversation, as JSON without braces. */
  appendix(replied: RepliedResults): string;
}

/** An image or a document of a result. */
type Attachment = Extract<ResultContentBlock, { readonly type: 'image' | 'document' }>;

/** The reply to blocks of the Messages API, with the user message that contains the results. */
export const ANTHROPIC: ReplyFormat = {
  appendix: ({ resultsJson }) => `"message":{"role":"user","content":${resultsJson}}`,
};

/** Replies with one message a call; images and documents, which those cannot hold, are a user message behind them. */
export const OPENAI_CHAT: ReplyFormat = {
  appendix: ({ results }) => `"messages":${JSON.stringify(chatMessages(results))}`,
};

/** Replies with one item a call: text or, if there are images or documents, a list of parts. */
export const OPENAI_RESPONSES: ReplyFormat = {
  appendix: ({ results }) => `"input":${JSON.stringify(results.map(toItem))}`,
};

/** Replies with one response a call, and the content that contains them, with images and documents behind them. */
export const GEMINI: ReplyFormat = {
  appendix: ({ results, names }) => {
    const responses = results.map((result, index) => {
      const response: Record<string, string> = result.is_error
        ? { error: resultText(result.content) }
        : { output: textBeside(result) };
      return { id: result.tool_use_id, name: names[index] ?? '', response };
    });
    const parts: GeminiPart[] = [
      ...responses.map((functionResponse) => ({ functionResponse })),
      ...results.flatMap((result) => attachments(result).flatMap((one) => geminiParts(result.tool_use_id, one))),
    ];
    const content: GeminiContent = { role: 'user', parts };
    return `"function_responses":${JSON.stringify(responses)},"content":${JSON.stringify(content)}`;
  },
};

function chatMessages(results: readonly ToolResultBlock[]): readonly ChatMessage[] {
  const messages: ChatMessage[] = results.map((result) => ({
    role: 'tool',
    tool_call_id: result.tool_use_id,
    content: textBeside(result),
  }));
  const parts = results.flatMap((result) =>
    attachments(result).flatMap((one) => chatParts(`Result of call "${result.tool_use_id}":`, one)),
  );
  return parts.length === 0 ? messages : [...messages, { role: 'user', content: parts }];
}

function chatParts(heading: string, attachment: Attachment): readonly ChatPart[] {
  const url = dataUrl(attachment);
  return [
    { type: 'text', text: heading },
    attachment.type === 'image'
      ? { type: 'image_url', image_url: { url } }
      : { type: 'file', file: { filename: fileName(attachment), file_data: url } },
  ];
}

function geminiParts(toolUseId: string, { source }: Attachment): readonly GeminiPart[] {
  const inlineData = { mimeType: source.media_type, data: source.data };
  return [{ text: `Result of call "${toolUseId}":` }, { inlineData }];
}

function toItem(result: ToolResultBlock): FunctionCallOutput {
  const { tool_use_id, content } = result;
  const hasParts = typeof content !== 'string' && attachments(result).length > 0;
  const output = hasParts ? markParts(content.flatMap(toPart), result) : markedText(resultText(content), result);
  return { type: 'function_call_output', call_id: tool_use_id, output };
}

function toPart(block: ResultContentBlock): readonly ResponsesPart[] {
  if (block.type === 'text') return [{ type: 'input_text', text: block.text }];
  if (block.type === 'tool_reference') return [{ type: 'input_text', text: referenceText(block.tool_name) }];
  const data = dataUrl(block);
  if (block.type === 'image') return [{ type: 'input_image', image_url: data, detail: 'auto' }];
  return [{ type: 'input_file', filename: fileName(block), file_data: data }];
}

/** Mark the first text of an error; parts without text get one. */
function markParts(parts: readonly ResponsesPart[], result: ToolResultBlock): ResponsesPart[] {
  const place = parts.findIndex(({ type }) => type === 'input_text');
  const first = parts[place];
  if (!result.is_error || first?.type !== 'input_text')
    return result.is_error ? [{ type: 'input_text', text: markedText('', result) }, ...parts] : [...parts];
  return parts.with(place, { ...first, text: markedText(first.text, result) });
}

/** The text of a result, with a note for each image or document that follows it elsewhere. */
function textBeside(result: ToolResultBlock): string {
  const notes = attachments(result).map(({ type }) => `[${type}: in the user message behind the results]`);
  return markedText([resultText(result.content), ...notes].filter(Boolean).join('\n'), result);
}

/** Mark the text of an error, unless it begins with the name of one. */
function markedText(text: string, { is_error: isError }: ToolResultBlock): string {
  return isError && !/^\w*Error:/.test(text) ? `Error: ${text}` : text;
}

function attachments({ content }: ToolResultBlock): readonly Attachment[] {
  if (typeof content === 'string') return [];
  return content.flatMap((block) => (block.type === 'image' || block.type === 'document' ? [block] : []));
}

function dataUrl({ source }: Attachment): string {
  return `data:${source.media_type};base64,${source.data}`;
}

function fileName(attachment: Attachment): string {
  return (attachment.type === 'document' ? attachment.title : undefined) ?? 'document.pdf';
}
