/**
 * Hands the questions of a session to the caller, and its answers to the server.
 */
import { GauntletError } from './errors.ts';
import type { Http } from './http.ts';
import type { Answer, Frame, Question } from './wire.ts';

/** The call that a frame is about, as its provider names it. */
export interface CallName {
  /** The provider's id, or the server's where the provider gave none. */
  readonly id: string;
  readonly name: string;
}

/**
 * Answers a question; `undefined` leaves it to somebody else who watches the session.
 *
 * @param about The call, where this client made it, and a signal that aborts once somebody else has answered.
 */
export type OnAsk = (
  question: Question,
  about: { readonly call: CallName | undefined; readonly signal: AbortSignal },
) => Answer | undefined | Promise<Answer | undefined>;

/** The questions of one session. */
export interface Questions {
  /** Look at a frame of the session. */
  take(frame: Frame): void;
  /** Ask those that were open before this client came. @throws {GauntletError} */
  askOpen(): Promise<void>;
  close(): void;
}

/** Create the questions. @param callOf Finds the call that a frame is about. */
export function createQuestions(
  http: Http,
  sessionId: string,
  onAsk: OnAsk,
  callOf: (frame: Question) => CallName | undefined,
): Questions {
  const open = new Map<string, AbortController>();
  const address = `/sessions/${encodeURIComponent(sessionId)}/prompts`;

  async function ask(question: Question): Promise<void> {
    const { request_id: id } = question;
    if (open.has(id)) return;
    const controller = new AbortController();
    open.set(id, controller);
    try {
      const answer = await answerOf(question, controller.signal);
      if (answer === undefined || controller.signal.aborted) return;
      await http.request('POST', `${address}/${encodeURIComponent(id)}`, { body: answer, signal: controller.signal });
    } catch (error) {
      if (controller.signal.aborted || !isMistake(error)) return;
      // Nobody waits for this promise, and an answer that is refused is a mistake in `onAsk`.
      queueMicrotask(() => {
        throw error;
      });
    } finally {
      open.delete(id);
    }
  }

  /** An `onAsk` that throws has not allowed anything. */
  async function answerOf(question: Question, signal: AbortSignal): Promise<Answer | undefined> {
    try {
      return await onAsk(question, { call: callOf(question), signal });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { behavior: 'deny', message: `Nobody could be asked: ${why}` };
    }
  }

  return {
    take(frame) {
      if (frame.type === 'permission_request') void ask(frame);
      if (frame.type === 'permission_resolved') open.get(frame.request_id)?.abort();
    },
    async askOpen() {
      const { prompts } = await http.request<{ prompts: Question[] }>('GET', address);
      for (const question of prompts) void ask(question);
    },
    close() {
      for (const controller of open.values()) controller.abort();
    },
  };
}

/**
 * True where the answer itself is wrong. Where the question has been answered, or has gone with its call, nothing is; where
 * the server is out of reach, the request that waits for the call says so.
 */
function isMistake(error: unknown): boolean {
  return !(error instanceof GauntletError) || [400, 403, 413].includes(error.status);
}
