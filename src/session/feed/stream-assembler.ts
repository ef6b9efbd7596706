/**
 * Raw streaming events of the Anthropic Messages API become blocks, each as soon as it closes.
 *
 * Text, thinking and whatever else a model streams is passed over; so are events of unknown types.
 *
 * @see Anthropic Messages API, "Streaming messages"
 */
import { z } from 'zod';
import type { JsonValue, ToolUseBlock } from '../../contract/blocks.ts';
import { GauntletError, isGauntletError } from '../../contract/errors.ts';
import { checkFields, type FieldIssue } from '../../contract/field-issues.ts';
import { parseSafeJson } from '../../contract/safe-json.ts';
import { ToolUseBlockSchema } from './block-schema.ts';

const BlockIndex = z.int().nonnegative();

const StreamEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start') }),
  z.object({
    type: z.literal('content_block_start'),
    index: BlockIndex,
    content_block: z.looseObject({ type: z.string() }),
  }),
  z.object({
    type: z.literal('content_block_delta'),
    index: BlockIndex,
    delta: z.looseObject({ type: z.string(), partial_json: z.string().optional() }),
  }),
  z.object({ type: z.literal('content_block_stop'), index: BlockIndex }),
  z.object({ type: z.literal('message_stop') }),
]);

/** An event that matters here. */
export type StreamEvent = z.output<typeof StreamEventSchema>;

const KNOWN_TYPES = new Set(StreamEventSchema.options.map((option) => option.shape.type.value as string));

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
  | { readonly type: 'block'; readonly block: ToolUseBlock };

interface OpenBlock extends StreamingBlock {
  readonly turnId: string;
  /** As it stood in the start event: with the whole input where no delta follows. */
  readonly started: ToolUseBlock;
  text: string;
}

/** What may be open at once. */
export interface AssemblerLimits {
  /** UTF-16 units of raw JSON, all open blocks together. */
  readonly partialInputBytes: number;
  /** Blocks. */
  readonly batchBlocks: number;
  readonly jsonDepth: number;
}

/** Puts the blocks of one connection's messages together, each in its turn. */
export class StreamAssembler {
  /** By `keyOf` their turn and index. */
  readonly #open = new Map<string, OpenBlock>();
  readonly #limits: AssemblerLimits;

  constructor(limits: AssemblerLimits) {
    this.#limits = limits;
  }

  /** Blocks of a turn that have begun and not closed. */
  openBlocks(turnId: string): readonly StreamingBlock[] {
    return [...this.#open.values()].filter((block) => block.turnId === turnId);
  }

  /** Drop what has not closed of a turn. */
  reset(turnId: string): void {
    for (const [key, block] of this.#open) if (block.turnId === turnId) this.#open.delete(key);
  }

  /**
   * Take one event of the message that streams into a turn.
   *
   * @throws {GauntletError} `invalid_request` naming the field, `payload_too_large` for a block past its limit.
   */
  push(turnId: string, event: unknown): StreamStep {
    const type = typeof event === 'object' && event !== null && 'type' in event ? event.type : undefined;
    if (typeof type !== 'string') {
      const details = { path: 'event.type' };
      throw new GauntletError('invalid_request', 'A stream event needs a "type"', { details });
    }
    if (!KNOWN_TYPES.has(type)) return { type: 'nothing' };
    const check = checkFields(StreamEventSchema, event);
    if (check.kind === 'unfit') throw badEvent(type, check.issues);
    return this.#step(turnId, check.value);
  }

  #step(turnId: string, event: StreamEvent): StreamStep {
    switch (event.type) {
      case 'message_start':
        this.reset(turnId);
        return { type: 'start' };
      case 'message_stop':
        this.reset(turnId);
        return { type: 'stop' };
      case 'content_block_start':
        return this.#begin(turnId, event.index, event.content_block);
      case 'content_block_delta':
        return this.#extend(keyOf(turnId, event.index), event.delta);
      case 'content_block_stop':
        return this.#finish(keyOf(turnId, event.index));
    }
  }

  #begin(turnId: string, index: number, block: { readonly type: string }): StreamStep {
    if (block.type !== 'tool_use') return { type: 'nothing' };
    const check = checkFields(ToolUseBlockSchema, block);
    if (check.kind === 'unfit') throw badEvent('content_block_start', check.issues, 'content_block');
    const { id, name } = check.value;
    if (this.#open.size >= this.#limits.batchBlocks) throw tooLarge(id, `${this.#limits.batchBlocks} blocks are open`);
    const open: OpenBlock = { turnId, id, name, started: check.value, text: '' };
    this.#open.set(keyOf(turnId, index), open);
    return { type: 'partial', block: open, isFirst: true };
  }

  #extend(key: string, delta: { type: string; partial_json?: string }): StreamStep {
    const open = this.#open.get(key);
    if (!open || delta.type !== 'input_json_delta') return { type: 'nothing' };
    const piece = delta.partial_json ?? '';
    const openChars = [...this.#open.values()].reduce((sum, { text }) => sum + text.length, piece.length);
    if (openChars > this.#limits.partialInputBytes) {
      this.#open.delete(key);
      throw tooLarge(open.id, `open inputs are over ${this.#limits.partialInputBytes} bytes`);
    }
    open.text += piece;
    return { type: 'partial', block: open, isFirst: false };
  }

  #finish(key: string): StreamStep {
    const open = this.#open.get(key);
    if (!open) return { type: 'nothing' };
    this.#open.delete(key);
    return { type: 'block', block: { ...open.started, input: wholeInput(open, this.#limits) } };
  }
}

/** Indices count in one message, and each turn may have a message that streams in. */
function keyOf(turnId: string, index: number): string {
  return `${turnId} ${index}`;
}

/** @throws {GauntletError} `invalid_request` for JSON that is too deep, reaches a prototype or is no Unicode. */
function wholeInput(open: OpenBlock, limits: AssemblerLimits): JsonValue {
  if (open.text.trim() === '') return open.started.input;
  try {
    return parseSafeJson(open.text, `the input of block "${open.id}"`, limits, { at: 'input' });
  } catch (error) {
    // Not JSON: handed on as text, so that the block gets its InputValidationError like any other.
    if (isGauntletError(error) && error.details?.reason === 'not_json') return open.text;
    throw error;
  }
}

function tooLarge(id: string, why: string): GauntletError {
  return new GauntletError(
    'payload_too_large',
    `Cannot take the input of block "${id}": ${why}. Send it as a finished block`,
  );
}

function badEvent(type: string, [issue]: readonly FieldIssue[], within?: string): GauntletError {
  const path = [within, issue?.path].filter(Boolean).join('.');
  return new GauntletError('invalid_request', `Stream event "${type}", field "${path}": ${issue?.message}`, {
    details: { path: `event.${path}` },
  });
}
