/**
 * Which calls of a closed turn run side by side: the pure statement of the executor's rule.
 *
 * The executor decides call by call as blocks arrive; this function says what must come out, and is the
 * oracle its property test is held against.
 */
import { answersYes } from '../tool/invocation.ts';

/** Calls that may run side by side, in block order. A group that is not safe holds one call. */
export interface CallGroup<Call> {
  readonly isConcurrencySafe: boolean;
  readonly calls: readonly Call[];
}

/**
 * Split a turn's calls into groups that run one after another.
 *
 * @param calls In block order.
 * @param isSafe Whether a call may run beside other safe ones; one that throws counts as not safe.
 * @returns Neighbouring safe calls together, every other call alone.
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
