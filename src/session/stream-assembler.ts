/**
 * Raw streaming events of the Anthropic Messages API become blocks, each as soon as it closes.
 *
 * Text, thinking and whatever else a model streams is passed over; so are events of unknown types.
 *
 * @see Anthropic Messages API, "Streaming messages"
 */
import { z } from 'zod';
import type { JsonValue } from '../contract/blocks.ts';
import { GauntletError } from '../contract/errors.ts';

const BlockIndex = z.int().nonnegative();

const StreamEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start') }),
  z.object({
    type: z.literal('content_block_start'),
    index: BlockIndex,
    content_block: z.looseObject({
      type: z.string(),
      id: z.string().optional(),
      name: z.string().optional(),
      input: z.json().optional(),
    }),
  }),
  z.object({
    type: z.literal('content_block_delta'),
    index: BlockIndex,
    delta: z.looseObject({ type: z.string(), partial_json: z.string().optional() }),
  }),
  z.object({ type: z.literal('content_block_stop'), index: BlockIndex }),
  z.object({ type: z.literal('message_stop') }),
]);

const KNOWN_TYPES = new Set(StreamEvent.options.map((option) => option.shape.type.value as string));

/** A `tool_use` block that is still streaming in. */
export interface StreamingBlock {
  readonly id: string;
  readonly name: string;
  /** Its input as far as it has come, as JSON text. */
  readonly text: string;
}

/** What an event came to. */
export type StreamStep =
  | { readonly type: 'start' | 'stop' | 'nothing' }
  | { readonly type: 'partial'; readonly block: StreamingBlock; readonly isFirst: boolean }
  /** `input` is the text itself where it is no JSON: the schema refuses it, the other blocks go on. */
  | { readonly type: 'block'; readonly id: string; readonly name: string; readonly input: JsonValue };

interface OpenBlock {
  readonly id: string;
  readonly name: string;
  /** What the start event held: the whole input where no delta follows. */
  readonly initial: JsonValue;
  text: string;
}

/** Puts the blocks of one connection's messages together. */
export class StreamAssembler {
  readonly #open = new Map<number, OpenBlock>();
  readonly #mostBytes: number;

  /** @param mostBytes Most raw JSON of one block. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Blocks that have begun and not closed. */
  get openBlocks(): readonly StreamingBlock[] {
    return [...this.#open.values()];
  }

  /** Drop what has not closed. */
  reset(): void {
    this.#open.clear();
  }

  /**
   * Take one event.
   *
   * @throws {GauntletError} `invalid_request` naming the field, `payload_too_large` for a block past its limit.
   */
  push(event: unknown): StreamStep {
    const type = typeof event === 'object' && event !== null && 'type' in event ? event.type : undefined;
    if (typeof type !== 'string') throw new GauntletError('invalid_request', 'A stream event needs a "type"');
    if (!KNOWN_TYPES.has(type)) return { type: 'nothing' };
    const parsed = StreamEvent.safeParse(event);
    if (!parsed.success) throw badEvent(type, parsed.error);
    return this.#step(parsed.data);
  }

  #step(event: z.output<typeof StreamEvent>): StreamStep {
    switch (event.type) {
      case 'message_start':
        this.reset();
        return { type: 'start' };
      case 'message_stop':
        this.reset();
        return { type: 'stop' };
      case 'content_block_start':
        return this.#begin(event.index, event.content_block);
      case 'content_block_delta':
        return this.#extend(event.index, event.delta);
      case 'content_block_stop':
        return this.#finish(event.index);
    }
  }

  #begin(index: number, block: { type: string; id?: string; name?: string; input?: JsonValue }): StreamStep {
    if (block.type !== 'tool_use') return { type: 'nothing' };
    if (block.id === undefined || block.name === undefined) {
      const field = block.id === undefined ? 'id' : 'name';
      throw new GauntletError('invalid_request', `A streamed tool_use block needs "content_block.${field}"`);
    }
    const open: OpenBlock = { id: block.id, name: block.name, initial: block.input ?? {}, text: '' };
    this.#open.set(index, open);
    return { type: 'partial', block: open, isFirst: true };
  }

  #extend(index: number, delta: { type: string; partial_json?: string }): StreamStep {
    const open = this.#open.get(index);
    if (!open || delta.type !== 'input_json_delta') return { type: 'nothing' };
    if (open.text.length + (delta.partial_json?.length ?? 0) > this.#mostBytes) {
      this.#open.delete(index);
      throw new GauntletError('payload_too_large', `The input of block "${open.id}" is over ${this.#mostBytes} bytes`);
    }
    open.text += delta.partial_json ?? '';
    return { type: 'partial', block: open, isFirst: false };
  }

  #finish(index: number): StreamStep {
    const open = this.#open.get(index);
    if (!open) return { type: 'nothing' };
    this.#open.delete(index);
    return { type: 'block', id: open.id, name: open.name, input: wholeInput(open) };
  }
}

function wholeInput(open: OpenBlock): JsonValue {
  if (open.text.trim() === '') return open.initial;
  try {
    return JSON.parse(open.text) as JsonValue;
  } catch {
    // Not JSON: handed on as text, so that the block gets its InputValidationError like any other.
    return open.text;
  }
}

function badEvent(type: string, error: z.ZodError): GauntletError {
  const issue = error.issues[0];
  const path = issue?.path.join('.') ?? '';
  return new GauntletError('invalid_request', `Stream event "${type}", field "${path}": ${issue?.message ?? 'invalid'}`, {
    details: { path: `event.${path}` },
  });
}
