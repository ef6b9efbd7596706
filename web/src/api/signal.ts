/**
 * A value that views watch. Changes within one frame of the screen are told once, so that a fast session costs no more
 * drawing than a slow one.
 */

/** A value that can be watched, as `useSyncExternalStore` takes it. */
export interface Watched<Value> {
  get(): Value;
  subscribe(listener: () => void): () => void;
}

/** Tells its listeners before the next paint, however often it was told. */
export class Ticker {
  readonly #listeners = new Set<() => void>();
  #isDue = false;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  tick = (): void => {
    if (this.#isDue) return;
    this.#isDue = true;
    // A hidden page paints nothing, and still has to count its questions.
    if (document.hidden) setTimeout(this.#tell, 100);
    else requestAnimationFrame(this.#tell);
  };

  #tell = (): void => {
    this.#isDue = false;
    for (const listener of this.#listeners) listener();
  };
}

/** A watched value that is replaced whole. */
export class Cell<Value> implements Watched<Value> {
  readonly #ticker = new Ticker();
  #value: Value;

  constructor(value: Value) {
    this.#value = value;
  }

  get = (): Value => this.#value;

  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    this.#ticker.tick();
  }

  subscribe = (listener: () => void): (() => void) => this.#ticker.subscribe(listener);
}
