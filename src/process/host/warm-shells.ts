/**
 * A few shells started ahead, used once each, so that a script does not wait for a fork.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { signalGroup } from './kill-tree.ts';
import { type ChildParts, type ShellContainment, type StartedChild, startShell } from './start-child.ts';
import type { UnstartedProcess } from './starter.ts';

/** The waiting shells of one kind. */
export interface WarmShells {
  /** Return a shell that waits for its script, started ahead or new. @throws As `startShell`. */
  take(): StartedChild | UnstartedProcess;
  /** Start replacements for all shells taken, after a short delay. */
  refillSoon(): void;
  /** Start one more, if one is missing. */
  addOne(): void;
  /** End the waiting shells. */
  close(): void;
}

/** Delay of replacements after a take: their forks must not delay the output of the shell just taken. */
const REFILL_MS = 5;

/** Keep `count` shells waiting. @param containment Launcher or jail of each. */
export function createWarmShells(count: number, parts: ChildParts, containment: ShellContainment): WarmShells {
  const waiting = new Set<StartedChild>();
  let refill: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** @returns True if one was missing and could be started. */
  function addOne(): boolean {
    if (isClosed || waiting.size >= count) return false;
    let shell: StartedChild | UnstartedProcess;
    try {
      shell = startShell(parts, containment);
    } catch {
      // Out of memory for a spare shell: `take` starts one when it is needed, and reports the error.
      return false;
    }
    if (shell.pid === undefined) return false;
    const { output, input, exited } = shell;
    waiting.add(shell);
    // A shell that ends while it waits must not be handed out.
    void exited.then(() => {
      if (waiting.delete(shell)) for (const stream of [output.stdout, output.stderr, input]) stream?.destroy();
    });
    return true;
  }

  async function fill(): Promise<void> {
    refill = undefined;
    // Pending requests and output are served between two forks.
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
