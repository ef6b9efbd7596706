/**
 * Follows one session over a WebSocket: all of its log, then what happens. A cut connection is opened again and goes on
 * after the last frame that came.
 */
import { GauntletError } from '../../../client/src/errors.ts';
import { pause } from '../../../client/src/http.ts';
import { SessionModel } from '../model/session-model.ts';
import type { Frame } from '../model/wire.ts';
import { codeOf, type Server, wordsOf } from './server.ts';
import { Ticker } from './signal.ts';

/** State of a connection. */
export type FeedState = 'connecting' | 'catching_up' | 'live' | 'cut' | 'gone';

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** The server pings more often; a connection without a byte for this long is dead. */
const CHECK_MS = 20_000;

/** Frames beyond which what happened is read apart from what happens. */
const LONG_LOG = 1_000;

/** Time between two drawings of a log that is being read. */
const READING_TICK_MS = 1_000;

const CONTROL_TYPES = ['welcome', 'live', 'gap', 'error', 'pong', 'bye', 'replay'] as const;

/** Frames of the connection alone. */
interface Control {
  readonly type: (typeof CONTROL_TYPES)[number];
  readonly epoch?: string;
  readonly resumed?: boolean;
  readonly head?: number;
  readonly from?: number;
  readonly to?: number;
  readonly reason?: string;
}

/** One followed session. */
export class SessionFeed {
  readonly sessionId: string;
  readonly #server: Server;
  readonly #ticker = new Ticker();
  readonly #closing = new AbortController();
  model = new SessionModel();
  state: FeedState = 'connecting';
  /** Why the session cannot be shown. */
  problem: string | undefined;
  #epoch: string | undefined;
  #version = 0;
  #toldMs = 0;

  constructor(server: Server, sessionId: string) {
    this.#server = server;
    this.sessionId = sessionId;
    void this.#follow();
  }

  subscribe = (listener: () => void): (() => void) => this.#ticker.subscribe(listener);
  getVersion = (): number => this.#version;

  close(): void {
    this.#closing.abort();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      try {
        await this.#connect(signal, () => (pauseMs = FIRST_PAUSE_MS));
      } catch (error) {
        if (signal.aborted) return;
        this.problem = wordsOf(error);
        if (error instanceof GauntletError && [401, 403, 404, 410].includes(error.status))
          return this.#setState('gone');
        if (codeOf(error) === 'closed') return this.#setState('gone');
      }
      this.#setState('cut');
      // Rejects only when nobody watches any more. The spread keeps many pages from coming back at once.
      await pause(pauseMs * (0.75 + Math.random() / 2), signal).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }

  /** Stay connected until the connection ends. */
  async #connect(signal: AbortSignal, onLive: () => void): Promise<void> {
    const path = `/sessions/${encodeURIComponent(this.sessionId)}`;
    const { head } = await this.#server.request<{ head: number }>('GET', path, { signal });
    if (head - this.model.head > LONG_LOG) await this.#readLog(head, signal);
    const body = { session_id: this.sessionId };
    const { ticket } = await this.#server.request<{ ticket: string }>('POST', '/tickets', { body, signal });
    const address = `${location.origin.replace(/^http/, 'ws')}${path}/stream`;
    const socket = new WebSocket(address, ['gauntlet.v1', `gauntlet.ticket.${ticket}`]);
    const end = () => socket.close();
    signal.addEventListener('abort', end, { once: true });
    let hasTraffic = true;
    const check = setInterval(() => {
      if (!hasTraffic) return socket.close();
      hasTraffic = false;
      if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"ping"}');
    }, CHECK_MS);
    try {
      await new Promise<void>((resolve, reject) => {
        socket.onopen = () => socket.send(JSON.stringify(this.#hello()));
        socket.onmessage = ({ data }) => {
          hasTraffic = true;
          this.#take(JSON.parse(String(data)) as Frame | Control, onLive);
        };
        socket.onclose = ({ code }) =>
          code === 4410 ? reject(new GauntletError('closed', 'The session has ended')) : resolve();
      });
    } finally {
      clearInterval(check);
      signal.removeEventListener('abort', end);
      socket.close();
    }
  }

  /** Read what happened in one piece: a WebSocket brings each frame as an event of its own, which takes ten times as long. */
  async #readLog(head: number, signal: AbortSignal): Promise<void> {
    this.#setState('catching_up');
    const path = `/sessions/${encodeURIComponent(this.sessionId)}/events?from_seq=${this.model.head}`;
    await this.#server.lines(path, signal, (line) => {
      this.#take(JSON.parse(line) as Frame | Control, () => undefined);
      return this.model.head >= head;
    });
  }

  #hello(): object {
    return { type: 'hello', from_seq: this.model.head, ...(this.#epoch && { epoch: this.#epoch }) };
  }

  #take(frame: Frame | Control, onLive: () => void): void {
    if (!isControl(frame)) {
      if (this.model.apply(frame)) this.#changed();
      return;
    }
    if (frame.type === 'welcome') {
      // The log is another one: what was shown is no longer true.
      if (frame.resumed === false && this.model.head > 0) this.model = new SessionModel();
      this.#epoch = frame.epoch;
      this.problem = undefined;
      this.#setState(frame.head === this.model.head ? 'live' : 'catching_up');
    } else if (frame.type === 'live') {
      onLive();
      this.#setState('live');
    } else if (frame.type === 'gap') {
      this.model.addGap({ from: frame.from ?? 0, to: frame.to ?? 0, reason: frame.reason ?? '' });
      this.#changed();
    }
  }

  #setState(state: FeedState): void {
    this.state = state;
    this.#changed();
  }

  /** Tell the views. While a long log is read, drawing every part of it would take longer than reading it. */
  #changed(): void {
    this.#version += 1;
    const isReading = this.state === 'catching_up';
    const nowMs = performance.now();
    if (isReading && nowMs - this.#toldMs < READING_TICK_MS) return;
    this.#toldMs = nowMs;
    this.#ticker.tick();
  }
}

function isControl(frame: Frame | Control): frame is Control {
  return CONTROL_TYPES.some((type) => type === frame.type);
}
