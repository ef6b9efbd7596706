/**
 * Open questions of one session: durable, and settled by the first answer.
 *
 * A question is state, not an event: it stays open until it is answered, expires, or its call is cancelled, and every
 * client that connects meanwhile receives it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PermissionDecision } from '../wire/decision.ts';
import { GauntletError } from '../base/errors.ts';
import type { NewFrame, PermissionRequestFrame, PermissionResolvedFrame } from '../wire/frames.ts';
import type { Answered } from '../wire/session-replies.ts';
import type { QuestionEnd } from '../tool/mid-call-question.ts';
import { newId } from '../base/new-id.ts';

const CANCELLED = { behavior: 'deny', by: 'cancelled' } as const;

/** Answer of a person. */
export interface QuestionAnswer {
  readonly behavior: 'allow' | 'deny';
  readonly message?: string;
  readonly updatedInput?: Readonly<Record<string, unknown>>;
}

/** A question to ask. */
export interface QuestionToAsk {
  readonly request: Omit<PermissionRequestFrame, 'type' | 'request_id' | 'expires_at'>;
  readonly timeoutMs: number;
  /** Repeat the decision; called after an answer added rules. Absent: no rule decides this question. */
  rejudge?(): Promise<PermissionDecision>;
  /** Check a yes. @throws {GauntletError} `invalid_request`, and the question stays open. */
  check?(answer: QuestionAnswer): void;
}

/** Decision about a question that is no longer open, and its author. */
export type Settled = Pick<PermissionResolvedFrame, 'behavior' | 'by'>;

/** Storage of settled questions by request id. */
export type SettledMemory = Pick<Map<string, Settled>, 'get'> & { set(requestId: string, settled: Settled): unknown };

interface OpenQuestion {
  /** Replaced when one of several needed approvals arrives. */
  frame: PermissionRequestFrame;
  readonly timer: NodeJS.Timeout;
  /** Deadline on the monotonic clock: the timer may fire late, but an answer after the deadline must not count. */
  readonly endsMs: number;
  /** The waiting gate; absent after a restart, until the call reaches its gate again. */
  asker?: Pick<QuestionToAsk, 'rejudge' | 'check'> & { readonly end: (end: QuestionEnd) => void };
  /** An approval of one of several that is being written to the disk. */
  joining?: Promise<unknown>;
  /** Answer that arrived before the gate did. */
  early?: QuestionEnd;
}

/** The questions of one session. */
export class Questions {
  readonly #open = new Map<string, OpenQuestion>();
  /** Questions from before a restart, by the id of the call that will ask them again. */
  readonly #restored = new Map<string, OpenQuestion>();
  readonly #settled: SettledMemory;
  readonly #emit: (frame: NewFrame) => Promise<unknown>;
  readonly #maxOpen: number;

  /**
   * @param emit Appends a frame to the session's log; resolves once it is on disk.
   *
   * @param settled Decisions by request id, including those from before a restart.
   */
  constructor(
    emit: (frame: NewFrame) => Promise<unknown>,
    maxOpen: number,
    settled: SettledMemory = new Map<string, Settled>(),
  ) {
    this.#emit = emit;
    this.#maxOpen = maxOpen;
    this.#settled = settled;
  }

  /** All open questions, oldest first. */
  get open(): readonly PermissionRequestFrame[] {
    return this.#live().map(({ frame }) => frame);
  }

  /** Reopen a question from before a restart. It may be answered before its call asks it again. */
  restore(frame: PermissionRequestFrame): void {
    this.#restored.set(frame.tool_use_id, this.#put(frame));
  }

  /** Report whether a question of this call is open from before a restart. */
  hasOpenQuestion(toolUseId: string): boolean {
    return this.#restored.has(toolUseId);
  }

  /** Settle a question from before a restart that its call does not ask again. */
  withdrawQuestion(toolUseId: string, settled: Settled, reason: string): void {
    const restored = this.#restored.get(toolUseId);
    this.#restored.delete(toolUseId);
    if (restored && this.#take(restored.frame.request_id)) void this.#log(restored.frame, settled, reason);
  }

  /**
   * Ask a question and wait for its result.
   *
   * @param signal Withdraws the question; the promise then rejects with the signal's reason.
   */
  async ask(question: QuestionToAsk, signal: AbortSignal): Promise<QuestionEnd> {
    signal.throwIfAborted();
    const restored = this.#adopt(question.request);
    if (restored?.early) return restored.early;
    if (!restored && this.#open.size >= this.#maxOpen) {
      return { behavior: 'deny', message: `Denied: ${this.#maxOpen} questions are open already, answer some first` };
    }
    const open = restored ?? this.#put(newRequest(question));
    const { frame } = open;
    let withdraw: () => void = () => undefined;
    try {
      return await new Promise<QuestionEnd>((resolve, reject) => {
        open.asker = { ...question, end: resolve };
        withdraw = () => {
          if (this.#take(frame.request_id)) void this.#log(frame, CANCELLED, 'The call was cancelled');
          reject(signal.reason as Error);
        };
        signal.addEventListener('abort', withdraw, { once: true });
        if (!restored) this.#emit(frame).catch(reject);
      });
    } finally {
      signal.removeEventListener('abort', withdraw);
      this.#take(frame.request_id);
    }
  }

  /**
   * Answer a question; the first answer wins.
   *
   * @param by Principal who answers.
   * @returns Once the answer is on disk; `pending` while another principal still has to approve.
   * @throws {GauntletError} `not_found` for an unknown question, `conflict` for a settled one, with its decision in
   * `details`, `invalid_request` for a changed input where several must approve.
   */
  async answer(requestId: string, answer: QuestionAnswer, by: string): Promise<Answered> {
    // An approval that is being written counts once it is on disk.
    const joining = this.#open.get(requestId)?.joining;
    if (joining) await joining.catch(() => undefined);
    const asked = this.#open.get(requestId);
    if (asked && isExpired(asked)) this.#expire(requestId);
    else if (asked?.frame.approvals && answer.behavior === 'allow') {
      const joined = await this.#join(asked, asked.frame.approvals, answer, by);
      if (joined) return joined;
    }
    if (answer.behavior === 'allow') this.#open.get(requestId)?.asker?.check?.(answer);
    const open = this.#take(requestId);
    if (!open) throw this.#tooLate(requestId);
    const before = answer.behavior === 'allow' ? (open.frame.approvals?.by ?? []) : [];
    const settled = { behavior: answer.behavior, by: [...before, by].join(' and ') };
    await this.#log(open.frame, settled, answer.message ?? (answer.behavior === 'allow' ? 'Allowed' : 'Denied'));
    end(
      open,
      answer.behavior === 'allow'
        ? { behavior: 'allow', ...(answer.updatedInput ? { updatedInput: answer.updatedInput } : {}) }
        : { behavior: 'deny', message: denial(open.frame.tool_name, answer.message), isAnswer: true },
    );
    return settled;
  }

  /** Decide all open questions again after a change of rules; those that rules decide are settled without a person. */
  async rejudgeAll(): Promise<void> {
    for (const { frame, asker } of this.#live()) {
      // If the gate fails to judge, the question stays open for a person.
      const decision = await asker?.rejudge?.().catch(() => undefined);
      if (!decision || decision.behavior === 'ask') continue;
      const open = this.#take(frame.request_id);
      if (!open) continue;
      const { behavior, message } = decision;
      await this.#log(frame, { behavior, by: 'rule' }, message);
      end(open, behavior === 'allow' ? { behavior } : { behavior, message });
    }
  }

  /** Forget all questions without settling them: the session is unloaded, and its log keeps them. */
  suspend(): void {
    for (const { timer } of this.#open.values()) clearTimeout(timer);
    this.#open.clear();
    this.#restored.clear();
  }

  #live(): readonly OpenQuestion[] {
    return [...this.#open.values()].filter((open) => !isExpired(open));
  }

  #put(frame: PermissionRequestFrame): OpenQuestion {
    const leftMs = Math.max(0, Date.parse(frame.expires_at) - Date.now());
    const timer = setTimeout(() => this.#expire(frame.request_id), leftMs);
    const open: OpenQuestion = { frame, timer, endsMs: performance.now() + leftMs };
    this.#open.set(frame.request_id, open);
    return open;
  }

  /**
   * Take over the restored question of a call if it is unchanged: an answer applies only to the input that was shown.
   */
  #adopt({ tool_use_id, tool_name, input, display, approvals }: QuestionToAsk['request']): OpenQuestion | undefined {
    const restored = this.#restored.get(tool_use_id);
    if (!restored) return undefined;
    const { frame } = restored;
    const isSame = frame.tool_name === tool_name && frame.approvals?.needed === approvals?.needed;
    const wasShown = isDeepStrictEqual([frame.input, frame.display], [asLogged(input), asLogged(display)]);
    if (!isSame || !wasShown) {
      this.withdrawQuestion(tool_use_id, CANCELLED, 'The question changed and is asked anew');
      return undefined;
    }
    this.#restored.delete(tool_use_id);
    return restored;
  }

  /** Record an approval of one of several. @returns undefined if it is the last one needed. */
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
      // An approval that is not on disk does not count.
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

  /** Remove an open question; the caller that gets it decides it. */
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
    // If the disk refuses, the question is open again after a restart: asked twice, but never lost.
    await this.#emit({ type: 'permission_resolved', ...ids, ...settled, reason }).catch(() => undefined);
  }

  #tooLate(requestId: string): GauntletError {
    const settled = this.#settled.get(requestId);
    if (!settled) return new GauntletError('not_found', `There is no question "${requestId}"`);
    const message = `The question "${requestId}" is answered already: ${settled.behavior} by ${settled.by}`;
    return new GauntletError('conflict', message, { details: { reason: 'already_resolved', ...settled } });
  }
}

function isExpired({ endsMs }: OpenQuestion): boolean {
  return performance.now() >= endsMs;
}

/** Pass the result to the waiting gate, or keep it until the gate asks. */
function end(open: OpenQuestion, result: QuestionEnd): void {
  if (open.asker) open.asker.end(result);
  else open.early = result;
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

/** Convert a value to its logged form, for comparison. */
function asLogged(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
