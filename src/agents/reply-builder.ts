/**
 * Builds a model's message from the block events of the Messages API as they stream in.
 */
import { GauntletError, isGauntletError } from '../base/errors.ts';
import { isPlainData, type JsonValue, parseSafeJson } from '../base/json.ts';
import type { TraceHeaders } from '../base/tracing.ts';
import type { ModelRequest, ReplyBlock, ReplyListener, StopReason, TokenUsage } from './conversation.ts';

/** An event of one block, from the SDK or converted from OpenAI's chunks. */
export type BlockEvent =
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: object }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: object }
  | { readonly type: 'content_block_stop'; readonly index: number };

/** Events of a message while it streams in. */
export type WireStream = AsyncGenerator<
  | BlockEvent
  | { readonly type: 'usage'; readonly usage: { readonly [Count in keyof TokenUsage]?: number | undefined } }
  | { readonly type: 'stop'; readonly stop: StopReason }
>;

/** Asks a model for its next message, with these headers in addition. Rejects with what the SDK throws. */
export type ModelWire = (
  request: ModelRequest,
  options: { readonly signal: AbortSignal; readonly headers: TraceHeaders },
) => Promise<WireStream>;

interface OpenBlock {
  readonly started: Readonly<Record<string, unknown>>;
  /** Text added by its deltas, by field: `text`, `thinking`, `signature`, `partial_json`. */
  readonly added: Record<string, string>;
}

/** Builds one message. */
export class ReplyBuilder {
  readonly #maxChars: number;
  readonly #listener: Pick<ReplyListener, 'onText' | 'onCall'>;
  readonly #open = new Map<number, OpenBlock>();
  readonly #content: ReplyBlock[] = [];
  #chars = 0;
  /** Number of calls passed to the listener. */
  callCount = 0;

  constructor(maxChars: number, listener: Pick<ReplyListener, 'onText' | 'onCall'>) {
    this.#maxChars = maxChars;
    this.#listener = listener;
  }

  /** Complete blocks. Empty text is left out: providers refuse it. */
  get content(): readonly ReplyBlock[] {
    return this.#content;
  }

  /** Characters received, for a provider that counts no tokens. */
  get chars(): number {
    return this.#chars;
  }

  /** Process an event. @throws {GauntletError} `output_limit` for a message that is too long. */
  push(event: BlockEvent): void {
    switch (event.type) {
      case 'content_block_start':
        this.#open.set(event.index, { started: { ...event.content_block }, added: {} });
        return;
      case 'content_block_delta':
        return this.#extend(event.index, event.delta);
      case 'content_block_stop':
        return this.#finish(event.index);
    }
  }

  #extend(index: number, delta: object): void {
    const block = this.#open.get(index);
    if (!block) return;
    for (const [field, piece] of Object.entries(delta) as [string, unknown][]) {
      if (field === 'type' || typeof piece !== 'string') continue;
      this.#chars += piece.length;
      if (this.#chars > this.#maxChars) {
        const message = `The model wrote more than ${this.#maxChars} characters in one message`;
        throw new GauntletError('output_limit', message);
      }
      block.added[field] = (block.added[field] ?? '') + piece;
    }
  }

  #finish(index: number): void {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (!block) return;
    const { started, added } = block;
    const { partial_json: json, ...texts } = added;
    const grown = Object.entries(texts).map(([field, text]) => [field, textOf(started[field]) + text]);
    const whole = { ...started, ...Object.fromEntries(grown), type: textOf(started['type']) };
    const text = textOf((whole as { readonly text?: unknown }).text);
    if (whole.type === 'text') {
      if (text.trim() === '') return;
      this.#listener.onText(text);
    }
    if (whole.type === 'tool_use') return this.#finishCall(started, json);
    this.#content.push(json === undefined ? whole : { ...whole, input: this.#inputOf(json, {}) });
  }

  #finishCall(started: OpenBlock['started'], json = ''): void {
    const id = textOf(started['id']);
    const name = textOf(started['name']);
    const given = isPlainData(started['input']) ? (started['input'] as JsonValue) : {};
    const input = this.#inputOf(json, given);
    this.#content.push({ type: 'tool_use', id, name, input });
    this.callCount++;
    this.#listener.onCall({ id, name, input });
  }

  /** Invalid JSON stays a text: the tool's schema refuses it with a message for the model. */
  #inputOf(json: string, given: JsonValue): JsonValue {
    if (json.trim() === '') return given;
    try {
      return parseSafeJson(json, 'the input of a call');
    } catch (error) {
      if (isGauntletError(error, 'invalid_request')) return json;
      throw error;
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
