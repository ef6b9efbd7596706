/**
 * Finds calls in the stream of a model, each as soon as it is whole.
 */
import { type Call, parseArguments, type Provider } from './calls.ts';
import { GauntletError } from './errors.ts';

/** Arguments of the calls of one message that are held while they stream in, in characters. */
const MAX_ARGUMENT_CHARS = 16 * 1024 * 1024;

/** An event of the Messages API or of Responses, or a chunk of Chat Completions, as far as calls need it. */
export type StreamEvent = { readonly type: string } | { readonly choices: readonly unknown[] };

/** Reads one stream. */
export interface StreamReader {
  /** Known with the first event. */
  readonly provider: Provider | undefined;
  /** True while a call streams in. */
  readonly isCalling: boolean;
  /** Return the calls that this event makes whole. @throws {GauntletError} `payload_too_large` */
  read(event: StreamEvent): readonly Call[];
}

interface OpenCall {
  id: string | undefined;
  name: string;
  text: string;
}

/** Create the reader. */
export function createStreamReader(): StreamReader {
  const open = new Map<number, OpenCall>();
  let provider: Provider | undefined;
  let chars = 0;

  function add(index: number, text: string): void {
    chars += text.length;
    if (chars > MAX_ARGUMENT_CHARS)
      throw new GauntletError(
        'payload_too_large',
        `The calls of the message are longer than ${MAX_ARGUMENT_CHARS} characters`,
      );
    const call = open.get(index);
    if (call) call.text += text;
  }

  function close(index: number): readonly Call[] {
    const call = open.get(index);
    open.delete(index);
    return call === undefined ? [] : [{ id: call.id, name: call.name, input: parseArguments(call.text) }];
  }

  function readMessages(event: MessagesEvent): readonly Call[] {
    const { index = 0, content_block: block, delta } = event;
    if (event.type === 'content_block_start' && block?.type === 'tool_use')
      open.set(index, { id: block.id, name: block.name ?? '', text: '' });
    if (event.type === 'content_block_delta') add(index, delta?.partial_json ?? '');
    return event.type === 'content_block_stop' ? close(index) : [];
  }

  /** A call is whole when the next one begins, or the message ends. */
  function readChunk({ choices }: ChatChunk): readonly Call[] {
    const whole: Call[] = [];
    for (const { delta, finish_reason } of choices) {
      for (const { index = open.size, id, function: called } of delta?.tool_calls ?? []) {
        if (!open.has(index)) {
          whole.push(...[...open.keys()].flatMap(close));
          open.set(index, { id, name: '', text: '' });
        }
        const call = open.get(index);
        if (call) call.name += called?.name ?? '';
        add(index, called?.arguments ?? '');
      }
      if (finish_reason) whole.push(...[...open.keys()].flatMap(close));
    }
    return whole;
  }

  return {
    get provider() {
      return provider;
    },
    get isCalling() {
      return open.size > 0;
    },
    read(event) {
      if ('choices' in event) {
        provider = 'openai-chat';
        return readChunk(event as ChatChunk);
      }
      if (event.type.startsWith('response.')) {
        provider = 'openai-responses';
        const { item } = event as ResponsesEvent;
        if (event.type !== 'response.output_item.done' || item?.type !== 'function_call') return [];
        return [{ id: item.call_id, name: item.name ?? '', input: parseArguments(item.arguments) }];
      }
      provider ??= event.type === 'message_start' ? 'anthropic' : undefined;
      return readMessages(event);
    },
  };
}

interface MessagesEvent {
  readonly type: string;
  readonly index?: number;
  readonly content_block?: { readonly type: string; readonly id?: string; readonly name?: string };
  readonly delta?: { readonly partial_json?: string };
}

interface ChatChunk {
  readonly choices: readonly {
    readonly delta?: {
      readonly tool_calls?: readonly {
        readonly index?: number;
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
    readonly finish_reason?: string | null;
  }[];
}

interface ResponsesEvent {
  readonly item?: {
    readonly type: string;
    readonly call_id?: string;
    readonly name?: string;
    readonly arguments?: string;
  };
}
