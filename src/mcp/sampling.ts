/**
 * Sampling: a server asks for a message of a model while one of its calls runs.
 *
 * The person sees the whole prompt first. The model gets neither tools nor anything of the conversation.
 */
import { createRateLimit } from '../base/pace.ts';
import {
  type CreateMessageRequest,
  type CreateMessageResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/client';
import type { ToolUseContext } from '../tool/tool.ts';
import type { ResultContentBlock } from '../wire/blocks.ts';
import type { DisplayBlock } from '../wire/display.ts';
import type { AskingCall } from './elicitation.ts';
import { visibleText } from './visible-text.ts';

/** Prompt of one request in all, in characters; a person must be able to read it. */
const PROMPT_CHARS = 64 * 1_024;

/** Messages of one request. */
const MAX_MESSAGES = 100;

/** Requests of one connection in `RATE_MS`. */
const MAX_IN_TIME = 10;
const RATE_MS = 60_000;

/** A message for the model. */
export interface SampledMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly ResultContentBlock[];
}

/** The model that answers the requests of servers. */
export interface Sampler {
  /** Name of the model, as the setting `models` has it. */
  readonly name: string;
  /** Longest answer, in tokens; a server may ask for a shorter one. */
  readonly maxTokens: number;
  reply(
    request: { readonly system: string; readonly messages: readonly SampledMessage[]; readonly maxTokens: number },
    listener: Pick<ToolUseContext, 'signal' | 'trace'>,
  ): Promise<{ readonly text: string; readonly isCut: boolean }>;
}

/** Create the function that answers the requests of one connection; it counts them. */
export function createSampling(sampler: Sampler) {
  const mayAsk = createRateLimit(MAX_IN_TIME, RATE_MS);

  /** @throws {ProtocolError} For a request that is refused; the server gets it as the error of its request. */
  return async function sample(
    params: CreateMessageRequest['params'],
    call: AskingCall & Pick<ToolUseContext, 'signal' | 'trace'>,
    signal: AbortSignal,
  ): Promise<CreateMessageResult> {
    if (!mayAsk()) throw refusal(`at most ${MAX_IN_TIME} requests a minute are taken`);
    const request = requestOf(params, sampler);
    const title = `The MCP server "${call.server}" asks for an answer of the model "${sampler.name}". It gets the answer as it is`;
    const answer = await call.ask(
      {
        ...{ title, input: call.input },
        description: `A prompt for at most ${request.maxTokens} tokens`,
        display: { title: `A prompt of "${call.server}"`, tone: 'warning', blocks: shown(request) },
      },
      signal,
    );
    if (answer.behavior === 'deny') {
      throw new ProtocolError(USER_REJECTED, answer.isAnswer === true ? 'The person said no' : 'Nobody answered');
    }
    const listener = { signal: AbortSignal.any([call.signal, signal]), trace: call.trace };
    const { text, isCut } = await sampler.reply(request, listener);
    return {
      role: 'assistant',
      model: sampler.name,
      stopReason: isCut ? 'maxTokens' : 'endTurn',
      content: { type: 'text', text },
    };
  };
}

/** Error code of the protocol for a person who said no. */
const USER_REJECTED = -1;

type SamplingRequest = Parameters<Sampler['reply']>[0];

function requestOf(params: CreateMessageRequest['params'], { maxTokens }: Sampler): SamplingRequest {
  if (params.tools !== undefined || params.toolChoice !== undefined) throw refusal('"tools" are not given to a model');
  if (params.messages.length > MAX_MESSAGES) throw refusal(`"messages" has more than ${MAX_MESSAGES} entries`);
  const messages = params.messages.map(({ role, content }) => ({
    role,
    content: (Array.isArray(content) ? content : [content]).map(blockOf),
  }));
  const system = params.systemPrompt ?? '';
  const texts = messages.flatMap(({ content }) => content.map(textOf));
  const chars = [system, ...texts].reduce((sum, text) => sum + shownChars(text), 0);
  if (chars > PROMPT_CHARS) throw refusal(`the prompt has more than ${PROMPT_CHARS} characters`);
  return { system, messages, maxTokens: Math.max(1, Math.min(Math.floor(params.maxTokens), maxTokens)) };
}

function blockOf(block: { readonly type: string; readonly [key: string]: unknown }): ResultContentBlock {
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string') return { type, text };
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string') {
    return { type, source: { type: 'base64', media_type: mimeType, data } };
  }
  throw refusal(`content of the type "${type}" is not given to a model`);
}

/** An image is shown as such, and its bytes are bounded with the message that they came in. */
function textOf(block: ResultContentBlock): string {
  return block.type === 'text' ? block.text : '';
}

/** Count a text as it is shown: hidden characters are spelled out, and must not push its end out of sight. */
function shownChars(text: string): number {
  return text.length > PROMPT_CHARS ? text.length : visibleText(text, Infinity).length;
}

/** Draw the whole prompt. */
function shown({ system, messages }: SamplingRequest): readonly DisplayBlock[] {
  const draw = (label: string, block: ResultContentBlock): DisplayBlock =>
    block.type === 'image'
      ? { kind: 'image', media_type: block.source.media_type, data: block.source.data }
      : { kind: 'text', text: `${label}: ${visibleText(textOf(block), PROMPT_CHARS)}` };
  return [
    ...(system === '' ? [] : [draw('system', { type: 'text', text: system })]),
    ...messages.flatMap(({ role, content }) => content.map((block) => draw(role, block))),
  ];
}

function refusal(why: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `No model is asked: ${why}`);
}
