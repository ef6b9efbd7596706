/**
 * Results leave in the order their blocks came in.
 *
 * Calls finish in any order. A result that finishes early waits here until every earlier block has its
 * result. Progress does not pass through this file.
 */

/** A line that things join in one order, finish in any, and leave in the order they joined. */
export interface InOrder<Item> {
  /** Take a place at the end of the line. */
  join(item: Item): void;
  /** The item may leave as soon as all before it have left. */
  finish(item: Item): void;
  /** Leave the line at once and release nothing: the item never was. */
  withdraw(item: Item): void;
  /** How many have not left. */
  readonly size: number;
}

/**
 * Hold finished items back until their turn.
 *
 * @param release Called with the longest run that may leave, in joining order; never with none.
 */
export function inOrder<Item>(release: (items: readonly Item[]) => void): InOrder<Item> {
  const line: Item[] = [];
  const finished = new Set<Item>();

  const leave = () => {
    const waiting = line.findIndex((item) => !finished.has(item));
    const leaving = line.splice(0, waiting === -1 ? line.length : waiting);
    for (const item of leaving) finished.delete(item);
    if (leaving.length > 0) release(leaving);
  };

  return {
    join: (item) => void line.push(item),
    finish: (item) => {
      if (!line.includes(item)) throw new RangeError('Cannot finish an item that is not in line');
      finished.add(item);
      leave();
    },
    withdraw: (item) => {
      const place = line.indexOf(item);
      if (place === -1) return;
      line.splice(place, 1);
      finished.delete(item);
      leave();
    },
    get size() {
      return line.length;
    },
  };
}
