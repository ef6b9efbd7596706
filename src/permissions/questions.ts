/**
 * Open questions of one session: durable, answered once, settled by the first answer.
 *
 * A question is state, not an event: it stands until it is answered, expires, or its call is cancelled,
 * and whoever connects meanwhile is shown it.
 */
import type { PermissionDecision } from '../contract/decision.ts';
import { GauntletError } from '../contract/errors.ts';
import type { NewFrame, PermissionRequestFrame, PermissionResolvedFrame } from '../contract/frames.ts';
import { newId } from '../contract/new-id.ts';

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
  /** The frame of the same question from before a restart: it stands, and is not sent again. */
  readonly standing?: PermissionRequestFrame;
  /** What the gate would say now; asked again when an answer brought new rules. */
  rejudge(): Promise<PermissionDecision>;
}

/** How a question that is no longer open was decided, and by whom. */
export type Settled = Pick<PermissionResolvedFrame, 'behavior' | 'by'>;

interface OpenQuestion {
  readonly frame: PermissionRequestFrame;
  readonly question: QuestionToAsk;
  readonly timer: NodeJS.Timeout;
  readonly end: (end: QuestionEnd) => void;
}

/** The questions of one session. */
export class Questions {
  readonly #open = new Map<string, OpenQuestion>();
  readonly #settled: Map<string, Settled>;
  readonly #emit: (frame: NewFrame) => Promise<unknown>;
  readonly #mostOpen: number;

  /**
   * @param emit Sends a frame to the session's log; resolves when it is on disk.
   * @param settled Questions decided before a restart, by request id.
   */
  constructor(
    emit: (frame: NewFrame) => Promise<unknown>,
    mostOpen: number,
    settled: ReadonlyMap<string, Settled> = new Map(),
  ) {
    this.#emit = emit;
    this.#mostOpen = mostOpen;
    this.#settled = new Map(settled);
  }

  /** All open questions, oldest first. */
  get open(): readonly PermissionRequestFrame[] {
    return [...this.#open.values()].map(({ frame }) => frame);
  }

  /**
   * Put a question and wait for its end.
   *
   * @param signal Withdraws the question; the promise then rejects with the signal's reason.
   */
  async ask(question: QuestionToAsk, signal: AbortSignal): Promise<QuestionEnd> {
    signal.throwIfAborted();
    if (this.#open.size >= this.#mostOpen) {
      return { behavior: 'deny', message: `Denied: ${this.#mostOpen} questions are open already, answer some first` };
    }
    const frame = question.standing ?? newRequest(question);
    let withdraw: () => void = () => undefined;
    try {
      return await new Promise<QuestionEnd>((resolve, reject) => {
        const timer = setTimeout(() => this.#expire(frame.request_id), Date.parse(frame.expires_at) - Date.now());
        this.#open.set(frame.request_id, { frame, question, timer, end: resolve });
        withdraw = () => {
          if (this.#take(frame.request_id)) this.#log(frame, 'deny', 'cancelled', 'The call was cancelled');
          reject(signal.reason);
        };
        signal.addEventListener('abort', withdraw, { once: true });
        if (!question.standing) this.#emit(frame).catch(reject);
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
   * @returns Once the answer is on disk.
   * @throws {GauntletError} `not_found` for a question there never was, `conflict` for one that is
   *   settled, with its decision in `details`.
   */
  async answer(requestId: string, answer: QuestionAnswer, by: string): Promise<Settled> {
    const open = this.#take(requestId);
    if (!open) throw this.#tooLate(requestId);
    const reason = answer.message ?? (answer.behavior === 'allow' ? 'Allowed' : 'Denied');
    await this.#log(open.frame, answer.behavior, by, reason);
    open.end(
      answer.behavior === 'allow'
        ? { behavior: 'allow', ...(answer.updatedInput ? { updatedInput: answer.updatedInput } : {}) }
        : { behavior: 'deny', message: denial(open.frame.tool_name, answer.message) },
    );
    return { behavior: answer.behavior, by };
  }

  /** Try new rules on all that still waits; what they decide is settled without a person. */
  async rejudgeAll(): Promise<void> {
    for (const { frame, question } of [...this.#open.values()]) {
      const decision = await question.rejudge();
      if (decision.behavior === 'ask') continue;
      const open = this.#take(frame.request_id);
      if (!open) continue;
      await this.#log(frame, decision.behavior, 'rule', decision.message);
      open.end(decision.behavior === 'allow' ? { behavior: 'allow' } : { behavior: 'deny', message: decision.message });
    }
  }

  /** Forget all questions without settling them: the session sleeps, and they stand in its log. */
  suspend(): void {
    for (const { timer } of this.#open.values()) clearTimeout(timer);
    this.#open.clear();
  }

  #expire(requestId: string): void {
    const open = this.#take(requestId);
    if (!open) return;
    const message = `Nobody answered in time whether "${open.frame.tool_name}" may run, so it was not run`;
    void this.#log(open.frame, 'deny', 'timeout', message);
    open.end({ behavior: 'deny', message });
  }

  /** Off the table: whoever takes a question decides it. */
  #take(requestId: string): OpenQuestion | undefined {
    const open = this.#open.get(requestId);
    if (!open) return undefined;
    this.#open.delete(requestId);
    clearTimeout(open.timer);
    return open;
  }

  async #log(frame: PermissionRequestFrame, behavior: 'allow' | 'deny', by: string, reason: string): Promise<void> {
    this.#settled.set(frame.request_id, { behavior, by });
    const { request_id, tool_use_id } = frame;
    // Had the disk refused, the question would stand again after a restart: asked twice, never lost.
    await this.#emit({ type: 'permission_resolved', request_id, tool_use_id, behavior, by, reason }).catch(() => undefined);
  }

  #tooLate(requestId: string): GauntletError {
    const settled = this.#settled.get(requestId);
    if (!settled) return new GauntletError('not_found', `There is no question "${requestId}"`);
    const message = `The question "${requestId}" is answered already: ${settled.behavior} by ${settled.by}`;
    return new GauntletError('conflict', message, { details: { reason: 'already_resolved', ...settled } });
  }
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
