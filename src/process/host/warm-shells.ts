/**
 * A few shells started ahead, used once each, so that a script waits for no fork.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { signalGroup } from './kill-tree.ts';
import { type ChildParts, type ShellContainment, type StartedChild, startShell } from './start-child.ts';
import type { UnstartedProcess } from './starter.ts';

/** The shells that wait. */
export interface WarmShells {
  /** A shell that waits for its order: one started ahead, or a new one. @throws As `startShell`. */
  take(): StartedChild | UnstartedProcess;
  /** Soon make up for all that was taken. */
  refillSoon(): void;
  /** Start one more at once, where one is missing. */
  addOne(): void;
  /** End those that wait. */
  close(): void;
}

/** Replacements are started this long after a take: their forks must not delay the output of the shell just taken. */
const REFILL_MS = 5;

/** Keep `count` shells waiting. @param containment What each is started in. */
export function createWarmShells(count: number, parts: ChildParts, containment: ShellContainment): WarmShells {
  const waiting = new Set<StartedChild>();
  let refill: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** @returns Whether one was missing and could be started. */
  function addOne(): boolean {
    if (isClosed || waiting.size >= count) return false;
    let shell: StartedChild | UnstartedProcess;
    try {
      shell = startShell(parts, containment);
    } catch {
      // No memory for a spare shell: `take` starts one when it is wanted, and reports.
      return false;
    }
    if (shell.pid === undefined) return false;
    const { output, input, exited } = shell;
    waiting.add(shell);
    // One that dies while it waits must not be offered.
    void exited.then(() => {
      if (waiting.delete(shell)) for (const stream of [output.stdout, output.stderr, input]) stream?.destroy();
    });
    return true;
  }

  async function fill(): Promise<void> {
    refill = undefined;
    // After each fork, whoever asked or wrote meanwhile goes first.
    while (addOne()) await nextTurn();
  }

  const refillSoon = () => {
    refill ??= setTimeout(() => void fill(), REFILL_MS);
  };

  return {
    take() {
      const [ready] = waiting;
      if (ready !== undefined) waiting.delete(ready);
      return ready ?? startShell(parts, containment);
    },
    refillSoon,
    addOne,
    close() {
      isClosed = true;
      clearTimeout(refill);
      for (const { pid } of waiting) signalGroup(pid, 'SIGKILL');
      waiting.clear();
    },
  };
}
