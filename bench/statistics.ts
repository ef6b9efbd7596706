/**
 * Medians and how they are come by: the two sides in turn, so that a machine that slows down slows both.
 */
import { setTimeout as pause } from 'node:timers/promises';

/** The middle value. @param values At least one. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Two sides, measured in turn. */
export interface Pair {
  readonly ours: number;
  readonly floor: number;
  /** Median of the ratios of neighbouring rounds, ours over floor. */
  readonly ratio: number;
}

/**
 * Measure two sides in turn.
 *
 * @param rounds Of each side, after one of each that does not count.
 */
export async function inTurn(rounds: number, ours: () => Promise<number>, floor: () => Promise<number>): Promise<Pair> {
  await ours();
  await floor();
  const both: { ours: number; floor: number }[] = [];
  for (let round = 0; round < rounds; round++) both.push({ ours: await ours(), floor: await floor() });
  return {
    ours: median(both.map((each) => each.ours)),
    floor: median(both.map((each) => each.floor)),
    ratio: median(both.map((each) => each.ours / each.floor)),
  };
}

/** Median milliseconds of `count` runs, one after another, `pauseMs` apart. */
export async function medianMs(count: number, run: () => Promise<unknown>, pauseMs = 0): Promise<number> {
  const times: number[] = [];
  for (let each = 0; each < count; each++) {
    const begunMs = performance.now();
    await run();
    times.push(performance.now() - begunMs);
    if (pauseMs > 0) await pause(pauseMs);
  }
  return median(times);
}

/** Runs a second of `clients` that each go on for `forMs`. */
export async function perSecond(
  clients: number,
  forMs: number,
  run: (client: number) => Promise<unknown>,
): Promise<number> {
  let count = 0;
  const begunMs = performance.now();
  const loop = async (client: number) => {
    while (performance.now() - begunMs < forMs) {
      await run(client);
      count++;
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
  return count / ((performance.now() - begunMs) / 1_000);
}
