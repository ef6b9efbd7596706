/**
 * A few at a time: work that takes a slot waits for a free one.
 */

/** Runs `work` when a slot is free. */
export type Slots = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** Make `count` slots; who asks first is served first. */
export function takeSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];

  return async function withSlot(work) {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
