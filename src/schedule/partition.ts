/**
 * Specifies which calls of a closed turn run side by side, as a pure function.
 *
 * The executor decides call by call as blocks arrive; this function states the expected result, and is the oracle of
 * its property test.
 */
import { answersYes } from '../tool/invocation.ts';

/** Calls that may run side by side, in block order. A group that is not safe contains one call. */
export interface CallGroup<Call> {
  readonly isConcurrencySafe: boolean;
  readonly calls: readonly Call[];
}

/**
 * Split a turn's calls into groups that run one after another.
 *
 * @param calls In block order.
 * @param isSafe Returns true if a call may run beside other safe ones; a call for which it throws is not safe.
 * @returns Adjacent safe calls together, every other call alone.
 */
export function partitionToolCalls<Call>(
  calls: readonly Call[],
  isSafe: (call: Call) => boolean,
): readonly CallGroup<Call>[] {
  const groups: { isConcurrencySafe: boolean; calls: Call[] }[] = [];
  for (const call of calls) {
    const isConcurrencySafe = answersYes(() => isSafe(call));
    const last = groups.at(-1);
    if (isConcurrencySafe && last?.isConcurrencySafe) last.calls.push(call);
    else groups.push({ isConcurrencySafe, calls: [call] });
  }
  return groups;
}
