/**
 * Reads a session: a cursor over the tail in memory and the rows on disk, and a wait at the head.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GauntletError } from '../base/errors.ts';
import type { Seq } from '../wire/frames.ts';
import type { LoggedFrame, ReadOptions } from './frame-log.ts';
import type { LogGap } from '../wire/session-replies.ts';
import { framesOfRow } from './frame-text.ts';
import { pageOfTail } from './log-tail.ts';
import type { OpenSession } from './open-sessions.ts';
import type { StoredRow } from './stored-row.ts';

/** Rows of a reader's first page, before the size of its rows is known. */
const FIRST_ROWS = 4;

/** Time after which others run for a moment: pages of a long session come from the disk without a wait between them. */
const MAX_TURN_MS = 10;

/** Access to the log for one reader. */
export interface ReaderSource {
  readonly pageFrames: number;
  readonly pageRows: number;
  readonly pageChars: number;
  /** Current state of the session; `undefined` once it is removed or the log is closed. */
  session(): OpenSession | undefined;
  /** Rows on disk that end after `after`, in order; at most `limit`. */
  rowsAfter(session: OpenSession, after: Seq, limit: number): readonly StoredRow[];
  /** Called for every damaged range, to notify the operator. */
  onGap(gap: LogGap): void;
}

/** Read pages of frames after `after`; see `FrameLog.read`. */
export async function* readSession(
  source: ReaderSource,
  after: Seq,
  { live, signal, onGap }: ReadOptions,
): AsyncGenerator<readonly LoggedFrame[], void, undefined> {
  const waiter = new HeadWaiter(signal);
  const nextRows = pagesOf(source);
  let cursor = after;
  let turnMs = performance.now();
  try {
    while (signal?.aborted !== true) {
      const session = source.session();
      if (session === undefined) return;
      if (cursor >= session.head) {
        if (!live) return;
        await waiter.wait(session);
        continue;
      }
      if (cursor + 1 < session.first) {
        onGap?.({ from: cursor + 1, to: session.first - 1, reason: 'retention' });
        cursor = session.first - 1;
        continue;
      }
      const recent = pageOfTail(session.tail, cursor, source.pageFrames);
      const page = recent ?? pageOfDisk(session, cursor, nextRows, source);
      if (isGap(page)) {
        source.onGap(page);
        reportGap(session.id, page, onGap);
        cursor = page.to;
        continue;
      }
      cursor = page.at(-1)?.seq ?? session.head;
      if (cursor > session.head) raiseHead(session, cursor);
      yield page;
      if (recent !== undefined || performance.now() - turnMs <= MAX_TURN_MS) continue;
      await nextTurn();
      turnMs = performance.now();
    }
  } finally {
    waiter.close();
  }
}

/** Only a damaged index hides rows beyond the head. Once they are seen, their numbers must not be assigned again. */
function raiseHead(session: OpenSession, seq: Seq): void {
  session.head = seq;
  session.reserved = Math.max(session.reserved, seq);
}

/** Waits for frames or for the signal, with one listener on the signal for all waits. */
class HeadWaiter {
  readonly #signal: AbortSignal | undefined;
  #wake: (() => void) | undefined;
  readonly #onAbort = (): void => this.#wake?.();

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort);
  }

  async wait(session: OpenSession): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      session.waiting.add(resolve);
    });
    if (this.#wake !== undefined) session.waiting.delete(this.#wake);
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}

type NextRows = (session: OpenSession, cursor: Seq) => readonly StoredRow[];

/** Return a function that reads rows in pages of about `pageChars`, estimated from the previous page. */
function pagesOf({ pageRows, pageChars, rowsAfter }: ReaderSource): NextRows {
  let limit = FIRST_ROWS;
  return (session, cursor) => {
    const rows = rowsAfter(session, cursor, limit);
    const chars = rows.reduce((sum, { text = '' }) => sum + text.length, 0);
    const fitting = Math.floor((rows.length * pageChars) / Math.max(1, chars));
    limit = Math.max(1, Math.min(fitting, 2 * limit, pageRows));
    return rows;
  };
}

/** Read the frames after `cursor`, or the damaged range that comes first. Called only below the head. */
function pageOfDisk(
  session: OpenSession,
  cursor: Seq,
  nextRows: NextRows,
  source: ReaderSource,
): readonly LoggedFrame[] | LogGap {
  const page: LoggedFrame[] = [];
  const rows = nextRows(session, cursor);
  let next = cursor + 1;
  for (const { first, last, text } of rows) {
    const isNext = text !== undefined && first <= next;
    if (!isNext && page.length > 0) return page;
    if (!isNext) return corruptGap(next, text === undefined ? Math.min(last, session.head) : first - 1);
    for (const frame of framesOfRow(text, first).slice(next - first)) {
      if (page.length === source.pageFrames) return page;
      page.push(frame);
    }
    next = last + 1;
  }
  return page.length > 0 ? page : corruptGap(next, session.head);
}

function corruptGap(from: Seq, to: Seq): LogGap {
  return { from, to, reason: 'corrupt' };
}

function isGap(page: readonly LoggedFrame[] | LogGap): page is LogGap {
  return 'from' in page;
}

function reportGap(sessionId: string, gap: LogGap, onGap: ReadOptions['onGap']): void {
  if (onGap !== undefined) return onGap(gap);
  const { from, to } = gap;
  throw new GauntletError(
    'log_unavailable',
    `Cannot read frames ${from} to ${to} of session "${sessionId}": the log is damaged there. Start a new session`,
    { details: { reason: 'corrupt', from, to } },
  );
}
