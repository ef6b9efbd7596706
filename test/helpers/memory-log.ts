/** A frame log in memory that a test can make slow, refuse, or lose to another owner. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GauntletError } from '../../src/base/errors.ts';
import type { Frame, NewFrame, OpenedFrame, Seq } from '../../src/wire/frames.ts';
import type {
  FrameLog,
  LoggedFrame,
  LoggedSession,
  ReadOptions,
  SessionNotes,
  SessionPage,
  Snapshot,
  WeighedSession,
} from '../../src/log/frame-log.ts';

interface MemorySession {
  readonly opened: OpenedFrame;
  readonly frames: LoggedFrame[];
  /** Head, rows on their way included. */
  reserved: Seq;
  isRemoved: boolean;
  readonly wake: Set<() => void>;
  readonly facts: Map<string, unknown>;
  snapshot: Snapshot | undefined;
}

/** The log and its switches. */
export class MemoryLog implements FrameLog {
  readonly epoch = 'memory';
  /** Rows that were appended or refused, as the types of their frames. */
  readonly rows: string[][] = [];
  /** So many of the next rows are refused. */
  refusals = 0;
  /** True: nobody can read where a session ends. */
  isBlind = false;
  readonly #sessions = new Map<string, MemorySession>();
  #held: Promise<void> = Promise.resolve();

  /** Let no row land until the returned function is called. */
  hold(): () => void {
    let release: () => void = () => undefined;
    this.#held = new Promise((resolve) => (release = resolve));
    return release;
  }

  async append(sessionId: string, after: Seq, frames: readonly NewFrame[]): Promise<Seq> {
    const session = this.#sessions.get(sessionId) ?? this.#create(sessionId, frames);
    if (session.reserved !== after) throw fenced(session);
    const last = after + frames.length;
    session.reserved = last;
    this.rows.push(frames.map(({ type }) => type));
    const lines = frames.map((frame, place) =>
      logged({ ...frame, seq: after + 1 + place, ts: new Date(0).toISOString() }),
    );
    await Promise.all([this.#held, nextTurn()]);
    if (session.frames.length !== after) throw fenced(session);
    if (this.refusals > 0) {
      this.refusals--;
      session.reserved = after;
      throw new GauntletError('log_unavailable', 'Cannot append to the log: the test says no');
    }
    session.frames.push(...lines);
    for (const wake of session.wake) wake();
    return last;
  }

  async *read(sessionId: string, after: Seq, { live, signal }: ReadOptions): AsyncGenerator<readonly LoggedFrame[]> {
    const session = this.#sessions.get(sessionId);
    for (let next = after; session && !session.isRemoved && signal?.aborted !== true;) {
      const page = session.frames.slice(next, next + 500);
      if (page.length > 0) yield page;
      else if (!live) return;
      else await woken(session, signal);
      next += page.length;
    }
  }

  bounds(sessionId: string) {
    if (this.isBlind) throw new GauntletError('log_unavailable', 'Cannot read the log: the test says no');
    const session = this.#sessions.get(sessionId);
    return session && session.frames.length > 0 ? { first: 1, head: session.frames.length } : undefined;
  }

  lastAt(sessionId: string): string | undefined {
    return this.#sessions.get(sessionId)?.frames.at(-1)?.frame.ts;
  }

  list(principal: string): SessionPage {
    const sessions = [...this.#sessions.keys()].flatMap((id) => this.find(id) ?? []);
    return { sessions: sessions.filter((found) => found.principal === principal) };
  }

  find(sessionId: string): LoggedSession | undefined {
    const session = this.#sessions.get(sessionId);
    if (!session || session.frames.length === 0) return undefined;
    const { principal, created_at: createdAt } = session.opened;
    return {
      sessionId,
      principal,
      createdAt,
      bounds: { first: 1, head: session.frames.length },
      snapshot: session.snapshot,
    };
  }

  save(sessionId: string, { snapshot, facts = [] }: SessionNotes): Promise<void> {
    const session = this.#sessions.get(sessionId);
    for (const [key, value] of facts) session?.facts.set(key, value);
    if (session && snapshot) session.snapshot = snapshot;
    return Promise.resolve();
  }

  fact(sessionId: string, key: string): unknown {
    return this.#sessions.get(sessionId)?.facts.get(key);
  }

  /** Nothing is ever old here. */
  weigh(): SessionPage<WeighedSession> {
    return { sessions: [] };
  }

  trim(): Promise<void> {
    return Promise.resolve();
  }

  usedBytes(): number {
    return 0;
  }

  sessionCount(): number {
    return this.#sessions.size;
  }

  remove(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session) session.isRemoved = true;
    for (const wake of session?.wake ?? []) wake();
    this.#sessions.delete(sessionId);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The frames on disk. */
  frames(sessionId: string): readonly Frame[] {
    return this.#sessions.get(sessionId)?.frames.map(({ frame }) => frame) ?? [];
  }

  #create(sessionId: string, frames: readonly NewFrame[]): MemorySession {
    const [opened] = frames;
    if (opened?.type !== 'opened') throw new TypeError('A session begins with a frame "opened"');
    const session: MemorySession = {
      opened,
      frames: [],
      reserved: 0,
      isRemoved: false,
      wake: new Set<() => void>(),
      facts: new Map<string, unknown>(),
      snapshot: undefined,
    };
    this.#sessions.set(sessionId, session);
    return session;
  }
}

function logged(frame: Frame): LoggedFrame {
  const text = JSON.stringify(frame);
  return { seq: frame.seq, type: frame.type, text, frame: JSON.parse(text) as Frame };
}

function fenced(session: MemorySession): GauntletError {
  return new GauntletError('fenced', `The log ends at ${session.reserved}`);
}

function woken(session: MemorySession, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      session.wake.delete(wake);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    session.wake.add(wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}
