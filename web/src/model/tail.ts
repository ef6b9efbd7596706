/**
 * The end of a text that grows: output of a running call or task, bounded however long it runs.
 */

/** Characters that a tail keeps. */
export const MAX_TAIL_CHARS = 64 * 1024;

/** End of a growing text. */
export class Tail {
  #pieces: string[] = [];
  #chars = 0;
  #dropped = 0;

  /** Characters in front of the tail that are not kept. */
  get droppedChars(): number {
    return this.#dropped;
  }

  get isEmpty(): boolean {
    return this.#chars === 0;
  }

  get text(): string {
    if (this.#pieces.length > 1) this.#pieces = [this.#pieces.join('')];
    return this.#pieces[0] ?? '';
  }

  append(piece: string): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    this.#chars += piece.length;
    // Cut at twice the bound: each character is copied once on average, however small the pieces.
    if (this.#chars > 2 * MAX_TAIL_CHARS) this.#cut();
  }

  clear(): void {
    this.#pieces = [];
    this.#dropped += this.#chars;
    this.#chars = 0;
  }

  #cut(): void {
    const whole = this.text;
    const lineEnd = whole.indexOf('\n', whole.length - MAX_TAIL_CHARS);
    const start = lineEnd < 0 ? whole.length - MAX_TAIL_CHARS : lineEnd + 1;
    this.#pieces = [whole.slice(start)];
    this.#chars = whole.length - start;
    this.#dropped += start;
  }
}
