/**
 * The agent loop: asks the model, runs its calls while the message still streams in, and sends their results back, until
 * the model makes no more calls or a bound is reached.
 */
import type { JsonValue } from '../base/json.ts';
import type { RunningTrace } from '../base/tracing.ts';
import type { ChildSession, InnerResult } from '../tool/inner-call.ts';
import type { ResultContentBlock, ToolResultBlock } from '../wire/blocks.ts';
import { type ConversationMessage, type Model, type ModelCall, type ModelTool, replyText } from './conversation.ts';

/** Ids that a session accepts. A model may send any id, and the same one twice. */
const SESSION_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Reminders to a model that its result is missing, or that its message was cut. */
const MAX_REMINDERS = 2;

/** The bounds of one agent. */
export interface AgentBounds {
  readonly turns: number;
  readonly tokens: number;
  readonly ms: number;
}

/** An event of a running agent. */
export type AgentEvent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly call: ModelCall }
  | { readonly kind: 'result'; readonly call: ModelCall; readonly result: InnerResult };

/** The task of an agent, and the model and session that it works with. */
export interface AgentTask {
  readonly model: Model;
  readonly system: string;
  readonly prompt: string;
  readonly session: Pick<ChildSession, 'run' | 'tools'>;
  readonly bounds: AgentBounds;
  readonly signal: AbortSignal;
  /** Trace of the call that started it. */
  readonly trace?: RunningTrace | undefined;
  /** Return messages of other agents that came since the last call. */
  readMail(): Promise<readonly string[]>;
  tell(event: AgentEvent): void;
}

/** Cause of the end of an agent: by itself, at a bound, or without the result it was asked for. */
export type AgentEnding = 'done' | 'turns' | 'tokens' | 'time' | 'refusal' | 'length' | 'no_result';

/** The end of an agent. */
export interface AgentOutcome {
  readonly ending: AgentEnding;
  /** Its last message. */
  readonly text: string;
  /** Its typed result, if the session has a tool for one. */
  readonly data?: JsonValue;
  readonly turns: number;
  readonly calls: number;
  readonly tokens: number;
  readonly ms: number;
}

/**
 * Run an agent.
 *
 * @throws {GauntletError} The failure of its model, or the signal's reason.
 */
export async function runAgent(task: AgentTask): Promise<AgentOutcome> {
  const deadline = AbortSignal.timeout(task.bounds.ms);
  const agent = new Agent(task, AbortSignal.any([task.signal, deadline]));
  try {
    return await agent.work();
  } catch (error) {
    if (!deadline.aborted || task.signal.aborted) throw error;
    return agent.outcome('time');
  }
}

class Agent {
  readonly #task: AgentTask;
  readonly #signal: AbortSignal;
  readonly #messages: ConversationMessage[];
  /** Deferred tools whose schemas the model has asked for. */
  readonly #loaded = new Set<string>();
  readonly #usedIds = new Set<string>();
  readonly #resultTool: string | undefined;
  readonly #begunMs = performance.now();
  #turns = 0;
  #calls = 0;
  #tokens = 0;
  #text = '';
  #data: JsonValue | undefined;
  #reminders = 0;

  constructor(task: AgentTask, signal: AbortSignal) {
    this.#task = task;
    this.#signal = signal;
    this.#resultTool = task.session.tools().find(({ isForResult }) => isForResult)?.name;
    this.#messages = [{ role: 'user', content: [{ type: 'text', text: task.prompt }] }];
  }

  async work(): Promise<AgentOutcome> {
    const { bounds } = this.#task;
    for (;;) {
      this.#signal.throwIfAborted();
      await this.#takeMail();
      if (this.#turns >= bounds.turns) return this.outcome('turns');
      if (this.#tokens >= bounds.tokens) return this.outcome('tokens');
      const ending = await this.#turn();
      if (ending === 'done' && (await this.#takeMail())) continue;
      if (ending !== undefined) return this.outcome(ending);
    }
  }

  outcome(ending: AgentEnding): AgentOutcome {
    return {
      ending,
      text: this.#text,
      ...(this.#data !== undefined && { data: this.#data }),
      turns: this.#turns,
      calls: this.#calls,
      tokens: this.#tokens,
      ms: Math.round(performance.now() - this.#begunMs),
    };
  }

  /** Get one message and run its calls. @returns `undefined` if the agent continues. */
  async #turn(): Promise<AgentEnding | undefined> {
    const { model, system, tell, trace } = this.#task;
    this.#turns++;
    const running: Promise<ToolResultBlock>[] = [];
    const added: ResultContentBlock[] = [];
    const request = { system, tools: this.#tools(), messages: this.#messages };
    const reply = await model.reply(request, {
      signal: this.#signal,
      trace,
      onText: (text) => tell({ kind: 'text', text: (this.#text = text.trim()) }),
      onCall: (call) => {
        const result = this.#run(call, added);
        // Its failure is handled below; if the message fails, its calls have ended with it.
        result.catch(() => undefined);
        running.push(result);
      },
    });
    this.#tokens += reply.usage.inputTokens + reply.usage.outputTokens;
    if (reply.content.length > 0) this.#messages.push({ role: 'assistant', content: reply.content });
    this.#text = replyText(reply.content) || this.#text;

    const results = await Promise.all(running);
    this.#signal.throwIfAborted();
    if (results.length > 0) this.#messages.push({ role: 'user', content: [...results, ...added] });
    if (this.#data !== undefined) return 'done';
    if (results.length > 0) return undefined;
    return this.#endWithoutCalls(reply.stop);
  }

  /** Handle a message without calls. */
  #endWithoutCalls(stop: string): AgentEnding | undefined {
    if (stop === 'refusal') return 'refusal';
    if (stop === 'length')
      return this.#remind('Your message was cut, since it was too long. Go on in shorter ones.', 'length');
    if (this.#resultTool === undefined) return 'done';
    return this.#remind(`Hand over the result now: call ${this.#resultTool}.`, 'no_result');
  }

  #remind(words: string, otherwise: AgentEnding): AgentEnding | undefined {
    if (++this.#reminders > MAX_REMINDERS) return otherwise;
    this.#say(words);
    return undefined;
  }

  /** @returns True if there was any. */
  async #takeMail(): Promise<boolean> {
    const mail = await this.#task.readMail();
    if (mail.length > 0) this.#say(mail.join('\n\n'));
    return mail.length > 0;
  }

  #say(text: string): void {
    const block = { type: 'text', text } as const;
    const last = this.#messages.at(-1);
    // Results and the texts after them are one message: providers require alternating roles.
    if (last?.role !== 'user') this.#messages.push({ role: 'user', content: [block] });
    else this.#messages.splice(-1, 1, { role: 'user', content: [...last.content, block] });
  }

  #tools(): readonly ModelTool[] {
    return this.#task.session.tools().filter(({ name, isDeferred }) => !isDeferred || this.#loaded.has(name));
  }

  async #run(call: ModelCall, added: ResultContentBlock[]): Promise<ToolResultBlock> {
    const { session, tell } = this.#task;
    const { name, input } = call;
    this.#calls++;
    tell({ kind: 'call', call });
    const result = await session.run({ name, input, ...this.#idFor(call) }, { signal: this.#signal });
    tell({ kind: 'result', call, result });
    if (name === this.#resultTool && result.status === 'ok') this.#data = input;
    for (const { content } of result.newMessages ?? [])
      added.push(...(typeof content === 'string' ? [{ type: 'text', text: content } as const] : content));
    const content = this.#load(result.content);
    return {
      type: 'tool_result',
      tool_use_id: call.id,
      content: content.length === 0 ? '(no output)' : content,
      ...(result.status !== 'ok' && { is_error: true }),
    };
  }

  /** List the tools that a result refers to from now on. @returns The content with words in place of the references */
  #load(content: ToolResultBlock['content']): ToolResultBlock['content'] {
    if (typeof content === 'string') return content;
    return content.map((block) => {
      if (block.type !== 'tool_reference') return block;
      this.#loaded.add(block.tool_name);
      return { type: 'text', text: `The tool ${block.tool_name} is in the list of tools from now on` };
    });
  }

  /** Return the model's own id if the session accepts it; otherwise the session makes one. */
  #idFor({ id }: ModelCall): { readonly id?: string } {
    if (!SESSION_ID.test(id) || this.#usedIds.has(id)) return {};
    this.#usedIds.add(id);
    return { id };
  }
}

/** Describe a bound or a fault, with the next step. */
export function endingWords(ending: Exclude<AgentEnding, 'done'>, { turns, tokens, ms }: AgentBounds): string {
  switch (ending) {
    case 'turns':
      return `it took ${turns} turns, the maximum. Give it a smaller task, or continue from its partial result`;
    case 'tokens':
      return `it used ${tokens} tokens, the maximum. Give it a smaller task, or continue from its partial result`;
    case 'time':
      return `it worked for ${Math.round(ms / 1_000)} s, the maximum. Give it a smaller task, or continue from its partial result`;
    case 'refusal':
      return 'its model refused. Rephrase the task';
    case 'length':
      return 'its messages were too long for its model. Ask for a shorter answer';
    case 'no_result':
      return 'it returned no result that fits the schema. Describe each field in the prompt, or leave out the schema';
  }
}
