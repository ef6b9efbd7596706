/**
 * Open questions of all sessions that the caller may answer, two-person ones of others too.
 */
import { pause } from '../../../client/src/http.ts';
import type { Answer, InboxQuestion } from '../model/wire.ts';
import type { Server } from './server.ts';
import { Cell } from './signal.ts';

/** The inbox as it stands. */
export interface InboxState {
  readonly questions: readonly InboxQuestion[];
  readonly isLoaded: boolean;
}

/** Outcome of an answer. */
export interface Answered {
  readonly behavior: 'allow' | 'deny';
  readonly by: string;
  /** Another person must say yes, too. */
  readonly pending?: true;
  readonly warnings?: readonly string[];
}

/** Nobody tells of questions in sessions of others, so they are looked for. */
const POLL_MS = 3_000;
const HIDDEN_POLL_MS = 10_000;
/** Between two looks, however much happens. */
const PAUSE_MS = 250;

/** The inbox. */
export class Inbox {
  readonly state = new Cell<InboxState>({ questions: [], isLoaded: false });
  readonly #server: Server;
  readonly #closing = new AbortController();
  #reading: Promise<void> | undefined;
  #isStale = false;

  constructor(server: Server) {
    this.#server = server;
    void this.#poll();
  }

  close(): void {
    this.#closing.abort();
  }

  /** Look again, soon. Many calls at once are one request, or two. */
  refresh = (): Promise<void> => {
    if (this.#reading) {
      this.#isStale = true;
      return this.#reading;
    }
    this.#isStale = false;
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined;
      if (this.#isStale) setTimeout(() => void this.refresh(), PAUSE_MS);
    });
    return this.#reading;
  };

  /** Answer a question. The first answer wins. @throws {GauntletError} `conflict`: somebody else was first */
  async answer({ session_id: sessionId, request_id: requestId }: AnsweredQuestion, answer: Answer): Promise<Answered> {
    const path = `/sessions/${encodeURIComponent(sessionId)}/prompts/${encodeURIComponent(requestId)}`;
    try {
      return await this.#server.request<Answered>('POST', path, { body: answer });
    } finally {
      void this.refresh();
    }
  }

  async #read(): Promise<void> {
    try {
      const { signal } = this.#closing;
      const { prompts } = await this.#server.request<{ prompts: InboxQuestion[] }>('GET', '/prompts', { signal });
      this.state.set({ questions: keepKnown(this.state.get().questions, prompts), isLoaded: true });
    } catch {
      // The server is away, which the list of sessions tells; the next look is soon.
    }
  }

  async #poll(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.refresh();
      await pause(document.hidden ? HIDDEN_POLL_MS : POLL_MS, signal).catch(() => undefined);
    }
  }
}

type AnsweredQuestion = Pick<InboxQuestion, 'session_id' | 'request_id'>;

/**
 * Keep questions that did not change as the objects they were, and where they were: what a person reads does not move,
 * and what was typed stays.
 */
function keepKnown(known: readonly InboxQuestion[], read: readonly InboxQuestion[]): readonly InboxQuestion[] {
  const merged = read.map((question) => {
    const old = known.find(({ request_id: id }) => id === question.request_id);
    return old && JSON.stringify(old.approvals) === JSON.stringify(question.approvals) ? old : question;
  });
  const order = new Map(known.map(({ request_id: id }, index) => [id, index]));
  merged.sort((a, b) => (order.get(a.request_id) ?? Infinity) - (order.get(b.request_id) ?? Infinity) || 0);
  const isSame = merged.length === known.length && merged.every((question, index) => question === known[index]);
  return isSame ? known : merged;
}
