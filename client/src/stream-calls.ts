/**
 * Finds calls in the stream of a model, each as soon as it is whole.
 */
import { type Call, parseArguments, type Provider } from './calls.ts';
import { GauntletError } from './errors.ts';

/** Arguments of the calls of one message that are held while they stream in, in characters. */
const MAX_ARGUMENT_CHARS = 16 * 1024 * 1024;

/** An event of the Messages API or of Responses, or a chunk of Chat Completions, as far as calls need it. */
export type StreamEvent = { readonly type: string } | { readonly choices: readonly unknown[] };

interface OpenCall {
  id: string | undefined;
  name: string;
  text: string;
}

/** Reads one stream. */
export class StreamReader {
  readonly #open = new Map<number, OpenCall>();
  #provider: Provider | undefined;
  #chars = 0;
  /** Calls of Chat Completions that have begun. */
  #begun = 0;

  /** Known with the first event. */
  get provider(): Provider | undefined {
    return this.#provider;
  }

  /** True while a call streams in. */
  get isCalling(): boolean {
    return this.#open.size > 0;
  }

  /** Return the calls that this event makes whole. @throws {GauntletError} `payload_too_large` */
  read(event: StreamEvent): readonly Call[] {
    if ('choices' in event) {
      this.#provider = 'openai-chat';
      return this.#readChunk(event as ChatChunk);
    }
    if (event.type.startsWith('response.')) {
      this.#provider = 'openai-responses';
      const { item } = event as ResponsesEvent;
      if (event.type !== 'response.output_item.done' || item?.type !== 'function_call') return [];
      return [{ id: item.call_id, name: item.name ?? '', input: parseArguments(item.arguments) }];
    }
    this.#provider = 'anthropic';
    return this.#readMessages(event);
  }

  #readMessages(event: MessagesEvent): readonly Call[] {
    const { index = 0, content_block: block, delta } = event;
    if (event.type === 'content_block_start' && block?.type === 'tool_use')
      this.#open.set(index, { id: block.id, name: block.name ?? '', text: '' });
    if (event.type === 'content_block_delta') this.#add(index, delta?.partial_json ?? '');
    return event.type === 'content_block_stop' ? this.#close(index) : [];
  }

  /** A call is whole when the next one begins, or the message ends. */
  #readChunk({ choices }: ChatChunk): readonly Call[] {
    const whole: Call[] = [];
    for (const { delta, finish_reason } of choices) {
      for (const { index, id, function: called } of delta?.tool_calls ?? []) {
        const key = index ?? (id ? this.#begun : this.#begun - 1);
        const before = this.#open.get(key);
        // Some servers send several calls under one index.
        if (before === undefined || (id && before.id !== id)) {
          whole.push(...this.#closeAll());
          this.#open.set(key, { id, name: '', text: '' });
          this.#begun++;
        }
        const call = this.#open.get(key);
        if (call && called?.name) call.name = called.name;
        this.#add(key, called?.arguments ?? '');
      }
      if (finish_reason) whole.push(...this.#closeAll());
    }
    return whole;
  }

  #add(index: number, text: string): void {
    const call = this.#open.get(index);
    if (call === undefined) return;
    call.text += text;
    this.#chars += text.length;
    if (this.#chars <= MAX_ARGUMENT_CHARS) return;
    const message = `The calls of the message are longer than ${MAX_ARGUMENT_CHARS} characters`;
    throw new GauntletError('payload_too_large', message);
  }

  #close(index: number): readonly Call[] {
    const call = this.#open.get(index);
    this.#open.delete(index);
    return call === undefined ? [] : [{ id: call.id, name: call.name, input: parseArguments(call.text) }];
  }

  #closeAll(): readonly Call[] {
    return [...this.#open.keys()].flatMap((index) => this.#close(index));
  }
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
