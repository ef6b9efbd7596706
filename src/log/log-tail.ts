/**
 * The newest rows of all sessions, in memory, for readers that are nearly up to date.
 *
 * All sessions share one budget: the oldest row is dropped first, whichever session it belongs to.
 */
import type { Seq } from '../wire/frames.ts';
import type { LoggedFrame } from './frame-log.ts';

/** One session's rows in the tail: consecutive, up to its head. */
export type SessionTail = Fifo<TailRow>;

interface TailRow {
  readonly first: Seq;
  readonly last: Seq;
  readonly frames: readonly LoggedFrame[];
  readonly bytes: number;
}

/** A queue with access by index; entries are removed at its front. */
export class Fifo<Entry> {
  #entries: (Entry | undefined)[] = [];
  #start = 0;

  get length(): number {
    return this.#entries.length - this.#start;
  }

  at(index: number): Entry | undefined {
    return this.#entries[this.#start + index];
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
  }

  /** Drop the first entry. The array is copied only once half of it is dropped, so a drop is amortised O(1). */
  shift(): void {
    this.#entries[this.#start] = undefined;
    this.#start += 1;
    if (this.#start * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#start);
    this.#start = 0;
  }
}

/** Holds at most `maxBytes` of rows; a larger row is not kept. */
export class LogTail {
  readonly #maxBytes: number;
  #bytes = 0;
  /** Every row in order of its append, with the session it belongs to. */
  readonly #order = new Fifo<{ readonly owner: SessionTail; readonly row: TailRow }>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Add the frames of one append to their session's tail. */
  push(owner: SessionTail, first: Seq, frames: readonly LoggedFrame[]): void {
    // A row holds its lines and the objects they were made from, about as much again; JSON is mostly one byte a
    // character.
    const bytes = frames.reduce((sum, frame) => sum + 2 * frame.text.length, 0);
    const row = { first, last: first + frames.length - 1, frames, bytes };
    owner.push(row);
    this.#order.push({ owner, row });
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) this.#dropOldest();
  }

  #dropOldest(): void {
    const oldest = this.#order.at(0);
    if (oldest === undefined) return;
    this.#order.shift();
    oldest.owner.shift();
    this.#bytes -= oldest.row.bytes;
  }
}

/**
 * Read the frames after `after`, at most `maxFrames`, if the tail reaches back that far.
 *
 * @returns `undefined` if it does not; never an empty page.
 */
export function pageOfTail(tail: SessionTail, after: Seq, maxFrames: number): readonly LoggedFrame[] | undefined {
  const oldest = tail.at(0);
  if (oldest === undefined || oldest.first > after + 1) return undefined;

  const start = rowAfter(tail, after);
  const row = tail.at(start);
  if (row === undefined) return undefined;
  const page = row.frames.slice(after + 1 - row.first, after + 1 - row.first + maxFrames);
  for (let index = start + 1; page.length < maxFrames; index++) {
    const next = tail.at(index);
    if (next === undefined) break;
    page.push(...next.frames.slice(0, maxFrames - page.length));
  }
  return page;
}

/** Index of the first row that ends after `after`, by binary search. */
function rowAfter(tail: SessionTail, after: Seq): number {
  let low = 0;
  let high = tail.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = tail.at(middle);
    if (row !== undefined && row.last <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
