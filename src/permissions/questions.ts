/**
 * Open questions of one session: durable, answered once, settled by the first answer.
 *
 * A question is state, not an event: it stands until it is answered, expires, or its call is cancelled,
 * and whoever connects meanwhile is shown it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PermissionDecision } from '../wire/decision.ts';
import { GauntletError } from '../base/errors.ts';
import type { NewFrame, PermissionRequestFrame, PermissionResolvedFrame } from '../wire/frames.ts';
import { newId } from '../base/new-id.ts';

const CANCELLED = { behavior: 'deny', by: 'cancelled' } as const;

/** How a question ended, for the gate that asked it. */
export type QuestionEnd =
  | { readonly behavior: 'allow'; readonly updatedInput?: Readonly<Record<string, unknown>> }
  | { readonly behavior: 'deny'; readonly message: string };

/** What a person answered. */
export interface QuestionAnswer {
  readonly behavior: 'allow' | 'deny';
  readonly message?: string;
  readonly updatedInput?: Readonly<Record<string, unknown>>;
}

/** A question to put. */
export interface QuestionToAsk {
  readonly request: Omit<PermissionRequestFrame, 'type' | 'request_id' | 'expires_at'>;
  readonly timeoutMs: number;
  /** What the gate would say now; asked again when an answer brought new rules. */
  rejudge(): Promise<PermissionDecision>;
}

/** How a question that is no longer open was decided, and by whom. */
export type Settled = Pick<PermissionResolvedFrame, 'behavior' | 'by'>;

/** Where it is remembered how questions were settled. */
export type SettledMemory = Pick<Map<string, Settled>, 'get'> & { set(requestId: string, settled: Settled): unknown };

/** What an answer came to: the end, or a yes that another has yet to join. */
export type Answered = Settled & { readonly pending?: true };

interface OpenQuestion {
  /** Replaced when someone says a yes that is not enough. */
  frame: PermissionRequestFrame;
  readonly timer: NodeJS.Timeout;
  /** On the monotonic clock: the timer may be late, and who answers after that is too late all the same. */
  readonly endsMs: number;
  /** The gate that waits; absent after a restart, until the call is at its gate again. */
  asker?: { readonly rejudge: QuestionToAsk['rejudge']; readonly end: (end: QuestionEnd) => void };
  /** A yes that is not enough, on its way to the disk. */
  joining?: Promise<unknown>;
  /** The answer, where it came before the gate was there. */
  early?: QuestionEnd;
}

/** The questions of one session. */
export class Questions {
  readonly #open = new Map<string, OpenQuestion>();
  /** From before a restart, by the call that will ask them again. */
  readonly #standing = new Map<string, OpenQuestion>();
  readonly #settled: SettledMemory;
  readonly #emit: (frame: NewFrame) => Promise<unknown>;
  readonly #mostOpen: number;

  /**
   * @param emit Sends a frame to the session's log; resolves when it is on disk.
   * @param settled How questions were decided, by request id; those from before a restart too.
   */
  constructor(
    emit: (frame: NewFrame) => Promise<unknown>,
    mostOpen: number,
    settled: SettledMemory = new Map<string, Settled>(),
  ) {
    this.#emit = emit;
    this.#mostOpen = mostOpen;
    this.#settled = settled;
  }

  /** All open questions, oldest first. */
  get open(): readonly PermissionRequestFrame[] {
    return this.#live().map(({ frame }) => frame);
  }

  /** A question from before a restart stands at once: it may be answered before its call asks it again. */
  stand(frame: PermissionRequestFrame): void {
    this.#standing.set(frame.tool_use_id, this.#put(frame));
  }

  /** Whether a question of this call stands from before a restart. */
  hasOpenQuestion(toolUseId: string): boolean {
    return this.#standing.has(toolUseId);
  }

  /** A question of this call that stands from before a restart is not asked again after all. */
  withdrawQuestion(toolUseId: string, settled: Settled, reason: string): void {
    const standing = this.#standing.get(toolUseId);
    this.#standing.delete(toolUseId);
    if (standing && this.#take(standing.frame.request_id)) void this.#log(standing.frame, settled, reason);
  }

  /**
   * Put a question and wait for its end.
   *
   * @param signal Withdraws the question; the promise then rejects with the signal's reason.
   */
  async ask(question: QuestionToAsk, signal: AbortSignal): Promise<QuestionEnd> {
    signal.throwIfAborted();
    const standing = this.#adopt(question.request);
    if (standing?.early) return standing.early;
    if (!standing && this.#open.size >= this.#mostOpen) {
      return { behavior: 'deny', message: `Denied: ${this.#mostOpen} questions are open already, answer some first` };
    }
    const open = standing ?? this.#put(newRequest(question));
    const { frame } = open;
    let withdraw: () => void = () => undefined;
    try {
      return await new Promise<QuestionEnd>((resolve, reject) => {
        open.asker = { rejudge: () => question.rejudge(), end: resolve };
        withdraw = () => {
          if (this.#take(frame.request_id)) void this.#log(frame, CANCELLED, 'The call was cancelled');
          reject(signal.reason as Error);
        };
        signal.addEventListener('abort', withdraw, { once: true });
        if (!standing) this.#emit(frame).catch(reject);
      });
    } finally {
      signal.removeEventListener('abort', withdraw);
      this.#take(frame.request_id);
    }
  }

  /**
   * The first answer wins.
   *
   * @param by The principal who answers.
   * @returns Once the answer is on disk; `pending` while another principal has yet to say yes too.
   * @throws {GauntletError} `not_found` for a question there never was, `conflict` for one that is
   *   settled, with its decision in `details`, `invalid_request` for a changed input where several must agree.
   */
  async answer(requestId: string, answer: QuestionAnswer, by: string): Promise<Answered> {
    // A yes on its way to the disk counts once it is there.
    const joining = this.#open.get(requestId)?.joining;
    if (joining) await joining.catch(() => undefined);
    const asked = this.#open.get(requestId);
    if (asked && isOver(asked)) this.#expire(requestId);
    else if (asked?.frame.approvals && answer.behavior === 'allow') {
      const joined = await this.#join(asked, asked.frame.approvals, answer, by);
      if (joined) return joined;
    }
    const open = this.#take(requestId);
    if (!open) throw this.#tooLate(requestId);
    const before = answer.behavior === 'allow' ? (open.frame.approvals?.by ?? []) : [];
    const settled = { behavior: answer.behavior, by: [...before, by].join(' and ') };
    await this.#log(open.frame, settled, answer.message ?? (answer.behavior === 'allow' ? 'Allowed' : 'Denied'));
    end(
      open,
      answer.behavior === 'allow'
        ? { behavior: 'allow', ...(answer.updatedInput ? { updatedInput: answer.updatedInput } : {}) }
        : { behavior: 'deny', message: denial(open.frame.tool_name, answer.message) },
    );
    return settled;
  }

  /** Try new rules on all that still waits; what they decide is settled without a person. */
  async rejudgeAll(): Promise<void> {
    for (const { frame, asker } of this.#live()) {
      // A gate that cannot judge any more leaves the question to the person.
      const decision = await asker?.rejudge().catch(() => undefined);
      if (!decision || decision.behavior === 'ask') continue;
      const open = this.#take(frame.request_id);
      if (!open) continue;
      const { behavior, message } = decision;
      await this.#log(frame, { behavior, by: 'rule' }, message);
      end(open, behavior === 'allow' ? { behavior } : { behavior, message });
    }
  }

  /** Forget all questions without settling them: the session sleeps, and they stand in its log. */
  suspend(): void {
    for (const { timer } of this.#open.values()) clearTimeout(timer);
    this.#open.clear();
    this.#standing.clear();
  }

  #live(): readonly OpenQuestion[] {
    return [...this.#open.values()].filter((open) => !isOver(open));
  }

  #put(frame: PermissionRequestFrame): OpenQuestion {
    const leftMs = Math.max(0, Date.parse(frame.expires_at) - Date.now());
    const timer = setTimeout(() => this.#expire(frame.request_id), leftMs);
    const open: OpenQuestion = { frame, timer, endsMs: performance.now() + leftMs };
    this.#open.set(frame.request_id, open);
    return open;
  }

  /** The standing question of a call, if it is the one that is asked now: a person answers what was shown. */
  #adopt({ tool_use_id, tool_name, input, display, approvals }: QuestionToAsk['request']): OpenQuestion | undefined {
    const standing = this.#standing.get(tool_use_id);
    if (!standing) return undefined;
    const { frame } = standing;
    const isSame = frame.tool_name === tool_name && frame.approvals?.needed === approvals?.needed;
    const wasShown = isDeepStrictEqual([frame.input, frame.display], [asLogged(input), asLogged(display)]);
    if (!isSame || !wasShown) {
      this.withdrawQuestion(tool_use_id, CANCELLED, 'The question changed and is asked anew');
      return undefined;
    }
    this.#standing.delete(tool_use_id);
    return standing;
  }

  /** A yes of one of several. @returns undefined where it is the last that is needed. */
  async #join(
    open: OpenQuestion,
    { needed, by }: NonNullable<PermissionRequestFrame['approvals']>,
    { updatedInput }: QuestionAnswer,
    who: string,
  ): Promise<Answered | undefined> {
    if (updatedInput) {
      const message = `Cannot change the input: ${needed} principals must say yes to the same one. Deny it and let it be asked anew`;
      throw new GauntletError('invalid_request', message, { details: { reason: 'approvals' } });
    }
    const pending = { behavior: 'allow', by: who, pending: true } as const;
    if (by.includes(who)) return pending;
    if (by.length + 1 >= needed) return undefined;
    const before = open.frame;
    open.frame = { ...before, approvals: { needed, by: [...by, who] } };
    try {
      await (open.joining = this.#emit(open.frame));
    } catch (error) {
      // What is not on disk was not said.
      open.frame = before;
      throw error;
    }
    return pending;
  }

  #expire(requestId: string): void {
    const open = this.#take(requestId);
    if (!open) return;
    const message = `Nobody answered in time whether "${open.frame.tool_name}" may run, so it was not run`;
    void this.#log(open.frame, { behavior: 'deny', by: 'timeout' }, message);
    end(open, { behavior: 'deny', message });
  }

  /** Off the table: whoever takes a question decides it. */
  #take(requestId: string): OpenQuestion | undefined {
    const open = this.#open.get(requestId);
    if (!open) return undefined;
    this.#open.delete(requestId);
    clearTimeout(open.timer);
    return open;
  }

  async #log(frame: PermissionRequestFrame, settled: Settled, reason: string): Promise<void> {
    const { request_id, tool_use_id, parent_tool_use_id } = frame;
    this.#settled.set(request_id, settled);
    const ids = { request_id, tool_use_id, parent_tool_use_id };
    // Had the disk refused, the question would stand again after a restart: asked twice, never lost.
    await this.#emit({ type: 'permission_resolved', ...ids, ...settled, reason }).catch(() => undefined);
  }

  #tooLate(requestId: string): GauntletError {
    const settled = this.#settled.get(requestId);
    if (!settled) return new GauntletError('not_found', `There is no question "${requestId}"`);
    const message = `The question "${requestId}" is answered already: ${settled.behavior} by ${settled.by}`;
    return new GauntletError('conflict', message, { details: { reason: 'already_resolved', ...settled } });
  }
}

function isOver({ endsMs }: OpenQuestion): boolean {
  return performance.now() >= endsMs;
}

/** Hand an end to the gate that waits for it, or keep it until it is there. */
function end(open: OpenQuestion, how: QuestionEnd): void {
  if (open.asker) open.asker.end(how);
  else open.early = how;
}

function newRequest(question: QuestionToAsk): PermissionRequestFrame {
  return {
    type: 'permission_request',
    request_id: newId('ask'),
    ...question.request,
    expires_at: new Date(Date.now() + question.timeoutMs).toISOString(),
  };
}

function denial(toolName: string, message: string | undefined): string {
  return message ? `Denied by the user: ${message}` : `The user does not want "${toolName}" to run with this input`;
}

/** A value as its frame has it, read back. */
function asLogged(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
