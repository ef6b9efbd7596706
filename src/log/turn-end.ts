/**
 * Runs work at the end of the current turn of the event loop, so that the turn's frames are written together.
 */

let waiting: (() => void)[] = [];

/**
 * Run `work` after all socket and child process events of this turn have been handled.
 *
 * Work runs in the order of the calls; work added meanwhile runs at the end of the same turn. A session that collects
 * frames first therefore passes its rows to a log that commits after the last of them.
 *
 * @param work Must not throw.
 */
export function atTurnEnd(work: () => void): void {
  // The check phase follows the poll phase, in which sockets are read.
  if (waiting.push(work) === 1) setImmediate(endTurn);
}

function endTurn(): void {
  // An array's iterator includes entries that are pushed while it runs.
  for (const work of waiting) work();
  waiting = [];
}
