/**
 * One question to a model over the Anthropic or the OpenAI API: instructions and a text in, a text out.
 */
import { modelAddress, type ModelSettings } from '../../config/settings/models.ts';
import { boundedText } from './cut-text.ts';
import { parseSafeJson } from './json.ts';
import type { RunningTrace } from './tracing.ts';

/** Question to a model. */
export interface ModelQuestion {
  readonly instructions: string;
  /** Data that the instructions are about, never part of them. */
  readonly text: string;
  readonly maxTokens: number;
  /** Trace that the request belongs to; absent where nothing is traced. */
  readonly trace?: RunningTrace | undefined;
}

/** Text of a reply. */
export interface ModelAnswer {
  readonly text: string;
  /** True if the reply was not cut and consists of one text only. */
  readonly isWhole: boolean;
}

/** Bounds of the exchange. */
export interface ModelBounds {
  readonly timeoutMs: number;
  readonly replyBytes: number;
}

/** Request and response format of one provider. */
interface Wire {
  /** Behind the address of the model. */
  readonly path: string;
  headers(apiKey: string | undefined): Record<string, string>;
  body(model: string, question: ModelQuestion): unknown;
  /** Extract the text; undefined for a reply without text. */
  answer(reply: unknown): ModelAnswer | undefined;
}

const WIRES: Readonly<Record<ModelSettings['provider'], Wire>> = {
  anthropic: {
    path: '/messages',
    headers: (apiKey) => ({ 'anthropic-version': '2023-06-01', ...(apiKey !== undefined && { 'x-api-key': apiKey }) }),
    body: (model, { instructions, text, maxTokens }) => ({
      model,
      max_tokens: maxTokens,
      system: instructions,
      messages: [{ role: 'user', content: text }],
    }),
    answer: (reply) => {
      const { content, stop_reason: stop } = record(reply);
      const blocks = Array.isArray(content) ? content.map(record) : [];
      const texts = blocks.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
      if (texts.length === 0) return undefined;
      return { text: texts.join(''), isWhole: stop === 'end_turn' && blocks.length === 1 };
    },
  },
  openai: {
    path: '/chat/completions',
    headers: (apiKey): Record<string, string> => (apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    body: (model, { instructions, text, maxTokens }) => ({
      model,
      max_tokens: maxTokens,
      messages: [
        { role: 'system', content: instructions },
        { role: 'user', content: text },
      ],
    }),
    answer: (reply) => {
      const { choices } = record(reply);
      const [choice, ...more] = Array.isArray(choices) ? (choices as unknown[]) : [];
      const { message, finish_reason: finish } = record(choice);
      const { content } = record(message);
      if (typeof content !== 'string') return undefined;
      return { text: content, isWhole: finish === 'stop' && more.length === 0 };
    },
  },
};

/**
 * Ask a model.
 *
 * @returns undefined if the reply contains no text.
 * @throws {Error} If no usable reply arrives. The message contains neither the address nor the key.
 */
export async function askModel(
  settings: ModelSettings,
  question: ModelQuestion,
  { timeoutMs, replyBytes }: ModelBounds,
  signal: AbortSignal,
): Promise<ModelAnswer | undefined> {
  const wire = WIRES[settings.provider];
  const reply = await fetch(modelAddress(settings) + wire.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...question.trace?.headers(), ...wire.headers(settings.apiKey) },
    body: JSON.stringify(wire.body(settings.model, question)),
    // The API key must not follow a redirect to another address.
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  if (!reply.ok) {
    await reply.body?.cancel();
    throw new Error(`The model answered with status ${reply.status}`);
  }
  const text = await boundedText(reply, replyBytes);
  if (text === undefined) throw new Error(`The model answered with more than ${replyBytes} bytes`);
  return wire.answer(parseSafeJson(text, "the model's answer"));
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
