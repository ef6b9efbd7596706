/**
 * The live list of sessions: a page of `GET /sessions`, then what `GET /sessions/events` tells of changes.
 */
import { pause } from '../../../client/src/http.ts';
import type { SessionDescription } from '../model/wire.ts';
import { type Server, wordsOf } from './server.ts';
import { Cell } from './signal.ts';

/** A session of the list. */
export type SessionRecord = SessionDescription;

/** The list as it stands. */
export interface SessionListState {
  readonly sessions: readonly SessionRecord[];
  readonly isLoaded: boolean;
  /** True while changes are told as they happen. */
  readonly isLive: boolean;
  readonly hasMore: boolean;
  readonly problem?: string;
}

const PAGE = 200;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;

/** The live list. */
export class SessionList {
  readonly state = new Cell<SessionListState>({ sessions: [], isLoaded: false, isLive: false, hasMore: false });
  readonly #server: Server;
  readonly #closing = new AbortController();
  readonly #onQuestions: () => void;

  /** @param onQuestions Called where a question may have come or gone. */
  constructor(server: Server, onQuestions: () => void) {
    this.#server = server;
    this.#onQuestions = onQuestions;
    void this.#follow();
  }

  close(): void {
    this.#closing.abort();
  }

  /** Read the list anew, such as after this page changed a session. */
  async refresh(): Promise<void> {
    const { signal } = this.#closing;
    type Page = { sessions: SessionRecord[]; next_cursor?: string };
    const page = await this.#server.request<Page>('GET', `/sessions?limit=${PAGE}`, { signal });
    this.#update({
      sessions: page.sessions,
      isLoaded: true,
      hasMore: page.next_cursor !== undefined,
      problem: undefined,
    });
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      await visible(signal);
      // A hidden page holds no connection: browsers allow six to a server, over all tabs.
      const hidden = whenHidden(signal);
      try {
        // The stream comes first: what changes while the list is read is told.
        const onOpen = () => {
          pauseMs = FIRST_PAUSE_MS;
          this.#update({ isLive: true, problem: undefined });
          this.#refreshSoon();
        };
        await this.#server.events('/sessions/events', hidden.signal, onOpen, (name, data) => this.#take(name, data));
      } catch (error) {
        if (signal.aborted) return;
        if (!hidden.signal.aborted) this.#update({ problem: wordsOf(error) });
      } finally {
        hidden.end();
      }
      this.#update({ isLive: false });
      await pause(pauseMs, signal).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }

  #take(name: string, data: string): void {
    const { sessions } = this.state.get();
    if (name === 'session') {
      const changed = JSON.parse(data) as SessionRecord;
      const index = sessions.findIndex(({ session_id: id }) => id === changed.session_id);
      const mayAsk = changed.state === 'waiting' || sessions[index]?.state === 'waiting';
      if (mayAsk) this.#onQuestions();
      this.#update({ sessions: index < 0 ? [changed, ...sessions] : sessions.with(index, changed) });
    } else if (name === 'removed') {
      const { session_id: gone } = JSON.parse(data) as { session_id: string };
      this.#update({ sessions: sessions.filter(({ session_id: id }) => id !== gone) });
      this.#onQuestions();
    } else if (name === 'resync') {
      this.#refreshSoon();
      this.#onQuestions();
    }
  }

  #refreshSoon(): void {
    this.refresh().catch((error: unknown) => this.#update({ problem: wordsOf(error) }));
  }

  #update(change: Partial<SessionListState>): void {
    if (!this.#closing.signal.aborted) this.state.set({ ...this.state.get(), ...change });
  }
}

/** Wait until somebody can see the page. */
function visible(signal: AbortSignal): Promise<void> {
  if (!document.hidden || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', end);
      resolve();
    };
    document.addEventListener('visibilitychange', end);
    signal.addEventListener('abort', end, { once: true });
  });
}

/** A signal that aborts when the page is hidden, or with the one given. */
function whenHidden(signal: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const onChange = () => {
    if (document.hidden) controller.abort();
  };
  document.addEventListener('visibilitychange', onChange);
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    end: () => document.removeEventListener('visibilitychange', onChange),
  };
}
