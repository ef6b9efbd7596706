/**
 * The end of this turn of the event loop: when what the turn brought is gathered, and then written.
 */

let waiting: (() => void)[] = [];

/**
 * Do `work` once everything that sockets and children brought in this turn has been handled.
 *
 * In the order in which it was asked for; what is asked for meanwhile follows at the same end of the
 * turn. So sessions that gather first hand their rows to a log that commits behind the last of them.
 *
 * @param work Must not throw.
 */
export function atTurnEnd(work: () => void): void {
  // The check phase follows the poll phase, in which sockets are read.
  if (waiting.push(work) === 1) setImmediate(endTurn);
}

function endTurn(): void {
  // An array's iterator sees what is pushed while it runs.
  for (const work of waiting) work();
  waiting = [];
}
