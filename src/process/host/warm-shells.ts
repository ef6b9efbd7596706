/**
 * A few shells started ahead, used once each, so that a script waits for no fork.
 */
import { signalGroup } from './kill-tree.ts';
import { startShell } from './start-child.ts';
import type { StartedChild } from './start-child.ts';

/** The shells that wait. */
export interface WarmShells {
  /** A shell that waits for its order: one started ahead, or a new one. @throws As `startShell`. */
  take(): StartedChild;
  /** Start what is missing. */
  fill(): void;
  /** End those that wait. */
  close(): void;
}

/** A replacement is started this long after a take: its fork must not delay the output of the shell just taken. */
const REFILL_MS = 5;

/** Keep `count` shells waiting. @param nextMarker Gives each its own marker. */
export function createWarmShells(count: number, nextMarker: () => string): WarmShells {
  const waiting = new Set<StartedChild>();
  let refill: NodeJS.Timeout | undefined;

  function addOne(): void {
    const shell = startShell(nextMarker());
    const forget = () => waiting.delete(shell);
    // Whoever takes it listens too; here it only must not be offered any more.
    shell.process.once('error', forget).once('exit', forget);
    waiting.add(shell);
  }

  function fill(): void {
    clearTimeout(refill);
    refill = undefined;
    try {
      while (waiting.size < count) addOne();
    } catch {
      // No descriptors or memory for a spare shell: `take` starts one when it is wanted, and reports.
    }
  }

  return {
    take() {
      const [ready] = waiting;
      if (ready !== undefined) waiting.delete(ready);
      refill ??= setTimeout(fill, REFILL_MS);
      return ready ?? startShell(nextMarker());
    },
    fill,
    close() {
      clearTimeout(refill);
      for (const { pid } of waiting) if (pid !== undefined) signalGroup(pid, 'SIGKILL');
      waiting.clear();
    },
  };
}
