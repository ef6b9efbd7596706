/**
 * A model of the settings: requests over its wire, with bounds, and with retries if a message breaks off.
 */
import type { Limits } from '../../config/limits.ts';
import { modelAddress, type ModelSettings } from '../../config/settings/models.ts';
import { cutText } from '../base/cut-text.ts';
import { errorMessage, GauntletError, isGauntletError } from '../base/errors.ts';
import type { TraceHeaders } from '../base/tracing.ts';
import { anthropicWire } from './anthropic-wire.ts';
import type { Model, ModelReply, ModelRequest, ReplyListener, StopReason } from './conversation.ts';
import { openAIWire } from './openai-wire.ts';
import { type ModelWire, ReplyBuilder } from './reply-builder.ts';

/** The bounds of one message. */
const MODEL_BOUNDS = {
  /** A model that sends nothing for this long has failed. */
  silenceMs: 3 * 60_000,
  /** Text of the message, inputs of calls included. */
  replyChars: 2 * 1_024 * 1_024,
} as const satisfies Record<string, number>;

/** Type of the bounds; tests use smaller values. */
export type ModelBounds = Readonly<Record<keyof typeof MODEL_BOUNDS, number>>;

/** Attempts for a message whose stream broke off. The SDKs retry requests that failed before the stream began. */
const MAX_TRIES = 3;

/** Length of a provider's error text that is passed on. */
const MAX_REASON_CHARS = 300;

/** Characters per token, for providers that report no counts. */
const CHARS_PER_TOKEN = 4;

/** Create a model. Nothing is loaded or sent before the first request. */
export function openModel(
  name: string,
  settings: ModelSettings,
  limits: Pick<Limits, 'modelReplyTokens'>,
  bounds: ModelBounds = MODEL_BOUNDS,
): Model {
  const openWire = settings.provider === 'anthropic' ? anthropicWire : openAIWire;
  const { silenceMs } = bounds;
  const wire = openWire(settings, modelAddress(settings), { ...limits, silenceMs });
  return {
    name,
    async reply(request, listener) {
      for (let tries = 1; ; tries++) {
        listener.signal.throwIfAborted();
        const span = listener.trace?.chat(settings);
        const attempt = await ask({ wire, headers: span?.headers ?? {} }, request, listener, bounds);
        span?.ended(attempt.kind === 'reply' ? attempt.reply.usage : undefined);
        if (attempt.kind === 'reply') return attempt.reply;
        listener.signal.throwIfAborted();
        if (!attempt.mayRetry || tries >= MAX_TRIES) throw failure(name, settings, attempt.error);
      }
    },
  };
}

/** Members of all tools that need a model. */
export function needsModel({ models }: { readonly models: ReadonlyMap<string, ModelSettings> }) {
  return {
    isEnabled: () => models.size > 0,
    disabledReason: () => 'no model for agents is set: name one in the setting "models", under the name "default"',
  };
}

type Attempt =
  | { readonly kind: 'reply'; readonly reply: ModelReply }
  | { readonly kind: 'failed'; readonly error: unknown; readonly mayRetry: boolean };

async function ask(
  { wire, headers }: { readonly wire: ModelWire; readonly headers: TraceHeaders },
  request: ModelRequest,
  listener: ReplyListener,
  { silenceMs, replyChars }: ModelBounds,
): Promise<Attempt> {
  const builder = new ReplyBuilder(replyChars, listener);
  const silence = silenceWatch(silenceMs);
  const signal = AbortSignal.any([listener.signal, silence.signal]);
  const usage: { inputTokens?: number | undefined; outputTokens?: number | undefined } = {};
  let stop: StopReason | undefined;
  let hasBegun = false;
  const reply = (): ModelReply => ({
    content: builder.content,
    stop: stop ?? (builder.callCount > 0 ? 'calls' : 'end'),
    usage: {
      inputTokens: usage.inputTokens ?? tokensOf(JSON.stringify(request).length),
      outputTokens: usage.outputTokens ?? tokensOf(builder.chars),
    },
  });
  try {
    for await (const event of await wire(request, { signal, headers })) {
      hasBegun = true;
      silence.heard();
      if (event.type === 'usage') Object.assign(usage, definedOf(event.usage));
      else if (event.type === 'stop') stop = event.stop;
      else builder.push(event);
    }
    if (stop === undefined) throw new GauntletError('tool_failed', 'its message broke off');
    return { kind: 'reply', reply: reply() };
  } catch (cause) {
    const error: unknown = silence.signal.aborted ? silence.signal.reason : cause;
    // Calls that have started cannot be repeated: the model continues with their results.
    if (builder.callCount > 0 && !listener.signal.aborted && !isGauntletError(error, 'output_limit'))
      return { kind: 'reply', reply: { ...reply(), stop: 'calls' } };
    return { kind: 'failed', error, mayRetry: hasBegun && !isGauntletError(error, 'output_limit') };
  } finally {
    silence.end();
  }
}

/** Create a signal that aborts after `ms` without an event. */
function silenceWatch(ms: number) {
  const controller = new AbortController();
  const reason = new GauntletError('timeout', `it sent nothing for ${ms} ms`);
  const timer = setTimeout(() => controller.abort(reason), ms);
  return { signal: controller.signal, heard: () => void timer.refresh(), end: () => clearTimeout(timer) };
}

function definedOf(usage: Readonly<Record<string, number | undefined>>) {
  return Object.fromEntries(Object.entries(usage).filter(([, count]) => Number.isFinite(count)));
}

function tokensOf(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** Build the error for a model and for people, without the key. */
function failure(name: string, { apiKey, provider }: ModelSettings, cause: unknown): GauntletError {
  const said = isGauntletError(cause) ? cause.message : reasonOf(cause);
  const shown = cutText(apiKey ? said.replaceAll(apiKey, '…') : said, MAX_REASON_CHARS);
  const code = isGauntletError(cause, 'timeout', 'output_limit') ? cause.code : 'tool_failed';
  const message = `Cannot get a message from model "${name}" (${provider}): ${shown}`;
  return new GauntletError(code, message, { cause });
}

/** Include the cause: an SDK's own message may be just "Connection error.". */
function reasonOf(error: unknown): string {
  const { status, cause } = error as { readonly status?: unknown; readonly cause?: unknown };
  const inner = cause instanceof Error ? (cause.cause instanceof Error ? cause.cause : cause) : undefined;
  const words = inner ? `${errorMessage(error)} ${inner.message}` : errorMessage(error);
  return typeof status === 'number' && !words.startsWith(String(status)) ? `${status} ${words}` : words;
}
