/** Random choices that a seed repeats exactly. */

/** A stream of choices. */
export interface Random {
  /** An integer from 0 up to and not including `end`. */
  below(end: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]] | readonly Item[]): Item;
}

/** Start the stream of one seed. The generator is mulberry32: fast, and good enough to choose syntax by. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (items) => {
      const [first] = items;
      if (first === undefined) throw new RangeError('Cannot pick from an empty list');
      return items[below(items.length)] ?? first;
    },
  };
}
