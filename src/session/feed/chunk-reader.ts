/**
 * Converts chunks of OpenAI's and Gemini's streams to events of the Messages API, so that one assembler serves all models.
 *
 * Chat Completions does not mark the end of a call: it is complete when the next one begins or the message finishes.
 *
 * @see OpenAI API, "Streaming": chat.completion.chunk, and the events of Responses
 * @see Gemini API, "models.streamGenerateContent": GenerateContentResponse
 */
import * as z from 'zod';
import { GauntletError } from '../../base/errors.ts';
import { checkFields } from '../../wire/field-issues.ts';
import type { StreamEvent } from './stream-assembler.ts';

const Arguments = z.union([z.string(), z.record(z.string(), z.unknown()).transform((input) => JSON.stringify(input))]);

const IN_PIECES = 'arguments in pieces are not taken; switch "streamFunctionCallArguments" off';

const ChatChunk = z.looseObject({
  choices: z.array(
    z.looseObject({
      index: z.int().nonnegative().nullish(),
      delta: z
        .looseObject({
          content: z.string().nullish(),
          tool_calls: z
            .array(
              z.looseObject({
                index: z.int().nonnegative().nullish(),
                id: z.string().nullish(),
                function: z.looseObject({ name: z.string().nullish(), arguments: Arguments.nullish() }).nullish(),
              }),
            )
            .nullish(),
        })
        .nullish(),
      finish_reason: z.string().nullish(),
    }),
  ),
});

/** Calls are complete: one whose arguments come in pieces is refused, since it would run without them. */
const GeminiChunk = z.looseObject({
  candidates: z.array(
    z.looseObject({
      index: z.int().nonnegative().nullish(),
      content: z
        .looseObject({
          parts: z
            .array(
              z.looseObject({
                text: z.string().nullish(),
                functionCall: z
                  .looseObject({
                    id: z.string().nullish(),
                    name: z.string(),
                    args: z.record(z.string(), z.unknown()).nullish(),
                    partialArgs: z.undefined({ error: IN_PIECES }).optional(),
                    willContinue: z.literal(false, { error: IN_PIECES }).nullish(),
                  })
                  .nullish(),
              }),
            )
            .nullish(),
        })
        .nullish(),
      finishReason: z.string().nullish(),
    }),
  ),
});

const FunctionCallItem = z.looseObject({
  type: z.string(),
  call_id: z.string().optional(),
  name: z.string().optional(),
});
const OutputIndex = z.int().nonnegative();

const ResponsesEvent = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('response.created') }),
  z.looseObject({ type: z.literal('response.output_item.added'), output_index: OutputIndex, item: FunctionCallItem }),
  z.looseObject({
    type: z.literal('response.function_call_arguments.delta'),
    output_index: OutputIndex,
    delta: z.string(),
  }),
  z.looseObject({ type: z.literal('response.output_text.delta'), output_index: OutputIndex, delta: z.string() }),
  z.looseObject({ type: z.literal('response.output_item.done'), output_index: OutputIndex }),
  z.looseObject({ type: z.literal('response.completed') }),
  z.looseObject({ type: z.literal('response.incomplete') }),
  z.looseObject({ type: z.literal('response.failed') }),
]);

const RESPONSES_TYPES = new Set(ResponsesEvent.options.map((option) => option.shape.type.value as string));

const EMPTY_TEXT = { type: 'text', text: '' };

type CallPiece = NonNullable<NonNullable<z.output<typeof ChatChunk>['choices'][number]['delta']>['tool_calls']>[number];

/** A streamed message of Chat Completions or Gemini. */
interface ChatMessage {
  /** Index of the last block in the message; -1 before the first. */
  place: number;
  /** The open text or call, with the vendor's index and id. */
  open?: 'text' | { readonly index: number | undefined; readonly id: string | undefined };
}

/** Events of a chunk. */
export interface ChunkEvents {
  readonly events: readonly StreamEvent[];
  /** Error of one call in the chunk; the other calls are still read. */
  readonly problem?: GauntletError;
}

/** Reads the chunks of one connection's messages. */
export class ChunkReader {
  /** By turn; `undefined` for the message without a turn id. */
  readonly #messages = new Map<string | undefined, ChatMessage>();

  /** Drop the message that streams into a turn. */
  reset(turnId: string | undefined): void {
    this.#messages.delete(turnId);
  }

  /**
   * Convert a chunk to events, in order; empty for a chunk without content. An error in one call is returned beside the
   * events of the others.
   *
   * @param turnId Turn that the client named.
   * @throws {GauntletError} `invalid_request` naming the field.
   */
  read(turnId: string | undefined, chunk: unknown): ChunkEvents {
    const { type, candidates } = (chunk ?? {}) as { readonly type?: unknown; readonly candidates?: unknown };
    if (candidates !== undefined) return this.#geminiEvents(turnId, checked(GeminiChunk, chunk));
    if (typeof type !== 'string') return this.#chatEvents(turnId, checked(ChatChunk, chunk));
    return { events: RESPONSES_TYPES.has(type) ? responsesEvents(checked(ResponsesEvent, chunk)) : [] };
  }

  /** Only the first choice is executed; the others are alternatives to it. */
  #chatEvents(turnId: string | undefined, { choices }: z.output<typeof ChatChunk>): ChunkEvents {
    const choice = choices.find(({ index }) => (index ?? 0) === 0);
    if (!choice) return { events: [] };
    const { message, events } = this.#messageOf(turnId);
    let problem: GauntletError | undefined;
    if (choice.delta?.content) events.push(...textEvents(message, choice.delta.content));
    for (const piece of choice.delta?.tool_calls ?? []) {
      const found = callEvents(message, piece);
      if (found instanceof GauntletError) problem ??= found;
      else events.push(...found);
    }
    if (choice.finish_reason) events.push(...this.#endOfMessage(turnId, message));
    return { events, problem };
  }

  #geminiEvents(turnId: string | undefined, { candidates }: z.output<typeof GeminiChunk>): ChunkEvents {
    const candidate = candidates.find(({ index }) => (index ?? 0) === 0);
    if (!candidate) return { events: [] };
    const { message, events } = this.#messageOf(turnId);
    for (const { text, functionCall } of candidate.content?.parts ?? []) {
      if (text) events.push(...textEvents(message, text));
      if (!functionCall) continue;
      const { id, name, args, partialArgs: _none, willContinue: _no, ...vendors } = functionCall;
      const content_block = { ...vendors, type: 'tool_use', id: id ?? '', name, input: args ?? {} };
      events.push(...endOfBlock(message), { type: 'content_block_start', index: ++message.place, content_block });
      events.push({ type: 'content_block_stop', index: message.place });
    }
    if (candidate.finishReason) events.push(...this.#endOfMessage(turnId, message));
    return { events };
  }

  /** Return the message that streams into a turn, and the event that begins it if it is new. */
  #messageOf(turnId: string | undefined): { readonly message: ChatMessage; readonly events: StreamEvent[] } {
    const known = this.#messages.get(turnId);
    if (known) return { message: known, events: [] };
    const message: ChatMessage = { place: -1 };
    this.#messages.set(turnId, message);
    return { message, events: [{ type: 'message_start' }] };
  }

  #endOfMessage(turnId: string | undefined, message: ChatMessage): readonly StreamEvent[] {
    this.#messages.delete(turnId);
    return [...endOfBlock(message), { type: 'message_stop' }];
  }
}

/** @throws {GauntletError} `invalid_request` */
function checked<Schema extends z.ZodType>(schema: Schema, chunk: unknown): z.output<Schema> {
  const check = checkFields(schema, chunk);
  if (check.kind === 'fits') return check.value;
  const [issue] = check.issues;
  throw badChunk(issue?.path ?? '', issue?.message ?? 'does not fit');
}

function badChunk(field: string, message: string): GauntletError {
  const path = ['chunk', field].filter(Boolean).join('.');
  return new GauntletError('invalid_request', `Cannot read the chunk, field "${path}": ${message}`, {
    details: { path },
  });
}

/** Text between the pieces of a call is ignored, because it would end the call. */
function textEvents(message: ChatMessage, text: string): readonly StreamEvent[] {
  if (message.open !== undefined && message.open !== 'text') return [];
  const events: StreamEvent[] = [];
  if (message.open === undefined) {
    message.open = 'text';
    events.push({ type: 'content_block_start', index: ++message.place, content_block: EMPTY_TEXT });
  }
  return [...events, textDelta(message.place, text)];
}

/**
 * Convert a piece of a call. An id other than the open call's starts the next call: some vendors give every call the
 * index 0. Vendors without ids give the name in the first piece of a call alone.
 */
function callEvents(
  message: ChatMessage,
  { index, id, function: called }: CallPiece,
): readonly StreamEvent[] | GauntletError {
  const open = message.open === 'text' ? undefined : message.open;
  const piece = called?.arguments ?? '';
  const isNewName = Boolean(called?.name) && (!open || open.id === undefined || (index ?? open.index) !== open.index);
  const isNext = id ? id !== open?.id || isNewName : isNewName;
  if (!isNext && (!open || (index ?? open.index) !== open.index)) {
    const field = `choices[0].delta.tool_calls[${index ?? 0}]`;
    return badChunk(
      field,
      'belongs to no open call: a call is complete once the next has begun, and begins with its id',
    );
  }
  const events: StreamEvent[] = [];
  if (isNext) {
    events.push(...endOfBlock(message));
    message.place++;
    message.open = { index: index ?? undefined, id: id || undefined };
    const content_block = { type: 'tool_use', id: id ?? '', name: called?.name ?? '', input: {} };
    events.push({ type: 'content_block_start', index: message.place, content_block });
  }
  if (piece !== '') events.push(inputDelta(message.place, piece));
  return events;
}

function endOfBlock(message: ChatMessage): readonly StreamEvent[] {
  if (!message.open) return [];
  message.open = undefined;
  return [{ type: 'content_block_stop', index: message.place }];
}

function inputDelta(index: number, partial_json: string): StreamEvent {
  return { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } };
}

function textDelta(index: number, text: string): StreamEvent {
  return { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
}

function responsesEvents(event: z.output<typeof ResponsesEvent>): readonly StreamEvent[] {
  switch (event.type) {
    case 'response.created':
      return [{ type: 'message_start' }];
    case 'response.output_item.added': {
      const { type, call_id, name } = event.item;
      if (type !== 'function_call' && type !== 'message') return [];
      const content_block = type === 'message' ? EMPTY_TEXT : { type: 'tool_use', id: call_id, name, input: {} };
      return [{ type: 'content_block_start', index: event.output_index, content_block }];
    }
    case 'response.function_call_arguments.delta':
      return [inputDelta(event.output_index, event.delta)];
    case 'response.output_text.delta':
      return [textDelta(event.output_index, event.delta)];
    case 'response.output_item.done':
      return [{ type: 'content_block_stop', index: event.output_index }];
    default:
      return [{ type: 'message_stop' }];
  }
}
