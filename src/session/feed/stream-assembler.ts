/**
 * Assembles raw streaming events of the Anthropic Messages API into blocks, each as soon as it closes.
 *
 * Text, thinking and other content is kept for the tools, which receive the message as far as it was streamed; events
 * of unknown types are ignored.
 *
 * @see Anthropic Messages API, "Streaming messages"
 */
import * as z from 'zod';
import type { AssistantMessage, ToolUseBlock } from '../../wire/blocks.ts';
import { type JsonValue, parseSafeJson } from '../../base/json.ts';
import { GauntletError, isGauntletError } from '../../base/errors.ts';
import { checkFields, type FieldIssue } from '../../wire/field-issues.ts';
import { GivenBlockSchema, MAX_BATCH_BLOCKS } from '../../wire/block-schema.ts';

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
    delta: z.looseObject({
      type: z.string(),
      partial_json: z.string().optional(),
      text: z.string().optional(),
      thinking: z.string().optional(),
    }),
  }),
  z.object({ type: z.literal('content_block_stop'), index: BlockIndex }),
  z.object({ type: z.literal('message_stop') }),
]);

/** An event of a known type. */
export type StreamEvent = z.output<typeof StreamEventSchema>;

type Delta = Extract<StreamEvent, { type: 'content_block_delta' }>['delta'];

const KNOWN_TYPES = new Set(StreamEventSchema.options.map((option) => option.shape.type.value as string));

/** A `tool_use` block that is still being streamed. */
export interface StreamingBlock {
  readonly id: string;
  /** The id that the provider gave, if `id` is another. */
  readonly providerId?: string;
  readonly name: string;
  /** Its input so far, as JSON text. */
  readonly text: string;
}

/** Result of an event. */
export type StreamStep =
  | { readonly type: 'start' | 'stop' | 'nothing' }
  | { readonly type: 'partial'; readonly block: StreamingBlock; readonly isFirst: boolean }
  /** `input` is the raw text if that is not JSON: it fails the schema, and the other blocks continue. */
  | {
      readonly type: 'block';
      readonly block: ToolUseBlock;
      readonly providerId?: string;
      readonly message: AssistantMessage;
    };

/** Returns the id under which a call runs. @throws {GauntletError} if it has none and needs one */
type IdOf = (call: { readonly id: string | undefined; readonly index: number; readonly path: string }) => string;

/** A block other than `tool_use` that is being streamed. */
interface OpenText {
  readonly block: { readonly type: string };
  text: string;
  thinking: string;
}

/** Closed content of a message, and its other open blocks. */
interface MessageSoFar {
  readonly content: AssistantMessage['content'][number][];
  readonly open: Map<number, OpenText>;
  /** Length of its content, in UTF-16 units. */
  chars: number;
}

interface OpenBlock extends StreamingBlock {
  readonly turnId: string;
  /** The block of the start event, which contains the whole input if no delta follows. */
  readonly started: ToolUseBlock;
  text: string;
}

/** UTF-16 units of raw JSON that may be open at once, all blocks together. */
const MAX_OPEN_CHARS = 1_024 * 1_024;

/** Assembles the blocks of one connection's messages, by turn. */
export class StreamAssembler {
  /** By turn and index, see `keyOf`. */
  readonly #open = new Map<string, OpenBlock>();
  /** By turn. */
  readonly #messages = new Map<string, MessageSoFar>();
  /** Blocks that have begun in the message of each turn. */
  readonly #counts = new Map<string, number>();
  /** Total length of all messages. */
  #messageChars = 0;
  /** Open blocks of a turn. */
  openBlocks(turnId: string): readonly StreamingBlock[] {
    return [...this.#open.values()].filter((block) => block.turnId === turnId);
  }

  /** Drop the open blocks and the message of a turn. */
  reset(turnId: string): void {
    for (const [key, block] of this.#open) if (block.turnId === turnId) this.#open.delete(key);
    this.#messageChars -= this.#messages.get(turnId)?.chars ?? 0;
    this.#messages.delete(turnId);
    this.#counts.delete(turnId);
  }

  /**
   * Process one event of the message that streams into a turn.
   *
   * @param idOf Settles the id of a block that begins.
   * @throws {GauntletError} `invalid_request` naming the field, `payload_too_large` for a block beyond its limit.
   */
  push(turnId: string, event: unknown, idOf: IdOf): StreamStep {
    const type = typeof event === 'object' && event !== null && 'type' in event ? event.type : undefined;
    if (typeof type !== 'string') {
      const details = { path: 'event.type' };
      throw new GauntletError('invalid_request', 'A stream event needs a "type"', { details });
    }
    if (!KNOWN_TYPES.has(type)) return { type: 'nothing' };
    const check = checkFields(StreamEventSchema, event);
    if (check.kind === 'unfit') throw badEvent(type, check.issues);
    return this.#step(turnId, check.value, idOf);
  }

  #step(turnId: string, event: StreamEvent, idOf: IdOf): StreamStep {
    switch (event.type) {
      case 'message_start':
        this.reset(turnId);
        return { type: 'start' };
      case 'message_stop':
        this.reset(turnId);
        return { type: 'stop' };
      case 'content_block_start':
        return this.#begin(turnId, event.index, event.content_block, idOf);
      case 'content_block_delta':
        return this.#extend(turnId, event.index, event.delta);
      case 'content_block_stop':
        return this.#finish(turnId, event.index);
    }
  }

  #begin(turnId: string, index: number, block: { readonly type: string }, idOf: IdOf): StreamStep {
    if (block.type !== 'tool_use') {
      const message = this.#messageOf(turnId);
      if (message && this.#hasRoom(message, JSON.stringify(block).length))
        message.open.set(index, { block, text: '', thinking: '' });
      return { type: 'nothing' };
    }
    const place = this.#counts.get(turnId) ?? 0;
    this.#counts.set(turnId, place + 1);
    const check = checkFields(GivenBlockSchema, block);
    if (check.kind === 'unfit') throw badEvent('content_block_start', check.issues, 'content_block');
    const { id: given, name } = check.value;
    const id = idOf({ id: given, index: place, path: 'event.content_block.id' });
    if (this.#open.size >= MAX_BATCH_BLOCKS) throw tooLarge(id, `${MAX_BATCH_BLOCKS} blocks are open`);
    const providerId = given === id ? undefined : given;
    const open: OpenBlock = { turnId, id, providerId, name, started: { ...check.value, id }, text: '' };
    this.#open.set(keyOf(turnId, index), open);
    return { type: 'partial', block: open, isFirst: true };
  }

  #extend(turnId: string, index: number, delta: Delta): StreamStep {
    const key = keyOf(turnId, index);
    const open = this.#open.get(key);
    if (!open) this.#extendText(this.#messages.get(turnId), index, delta);
    if (!open || delta.type !== 'input_json_delta') return { type: 'nothing' };
    const piece = delta.partial_json ?? '';
    const openChars = [...this.#open.values()].reduce((sum, { text }) => sum + text.length, piece.length);
    if (openChars > MAX_OPEN_CHARS) {
      this.#open.delete(key);
      throw tooLarge(open.id, `open inputs are over ${MAX_OPEN_CHARS} bytes`);
    }
    open.text += piece;
    return { type: 'partial', block: open, isFirst: false };
  }

  #finish(turnId: string, index: number): StreamStep {
    const key = keyOf(turnId, index);
    const open = this.#open.get(key);
    const message = open ? this.#messageOf(turnId) : this.#messages.get(turnId);
    if (!open) {
      const text = message?.open.get(index);
      if (text) message?.content.push(wholeText(text));
      message?.open.delete(index);
      return { type: 'nothing' };
    }
    this.#open.delete(key);
    const block = { ...open.started, input: wholeInput(open) };
    const before = [...(message?.content ?? [])];
    if (message && this.#hasRoom(message, open.text.length)) message.content.push(block);
    const soFar = { role: 'assistant', content: [...before, block] } as const;
    return { type: 'block', block, providerId: open.providerId, message: soFar };
  }

  /** @returns `undefined` if too many messages are streamed at once; their content is then not kept. */
  #messageOf(turnId: string): MessageSoFar | undefined {
    const known = this.#messages.get(turnId);
    if (known || this.#messages.size >= MAX_BATCH_BLOCKS) return known;
    const message: MessageSoFar = { content: [], open: new Map(), chars: 0 };
    this.#messages.set(turnId, message);
    return message;
  }

  #extendText(message: MessageSoFar | undefined, index: number, { text = '', thinking = '' }: Delta): void {
    const open = message?.open.get(index);
    if (!message || !open || !this.#hasRoom(message, text.length + thinking.length)) return;
    open.text += text;
    open.thinking += thinking;
  }

  /** Reserve room for `chars` more of a message. Beyond the limit its text is dropped, which no call depends on. */
  #hasRoom(message: MessageSoFar, chars: number): boolean {
    if (this.#messageChars + chars > MAX_OPEN_CHARS) return false;
    this.#messageChars += chars;
    message.chars += chars;
    return true;
  }
}

/** Build the block as in the complete message. */
function wholeText({ block, text, thinking }: OpenText): { readonly type: string } {
  return { ...block, ...(text === '' ? {} : { text }), ...(thinking === '' ? {} : { thinking }) };
}

/** Key of a block: indexes are unique within a message, and each turn may have one that streams. */
function keyOf(turnId: string, index: number): string {
  return `${turnId} ${index}`;
}

/** @throws {GauntletError} `invalid_request` for JSON that is too deep, reaches a prototype or is not valid Unicode. */
function wholeInput(open: OpenBlock): JsonValue {
  if (open.text.trim() === '') return open.started.input;
  try {
    return parseSafeJson(open.text, `the input of block "${open.id}"`, { at: 'input' });
  } catch (error) {
    // Not JSON: passed on as text, so that the block fails with an InputValidationError like any other.
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
