/**
 * A few shells started ahead, used once each, so that a script waits for no fork.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ShellLauncher } from '../process-host.ts';
import { signalGroup } from './kill-tree.ts';
import { startShell } from './start-child.ts';
import type { StartedChild, UnstartedChild } from './start-child.ts';
import type { PipeSupply } from './pipe-supply.ts';

/** The shells that wait. */
export interface WarmShells {
  /** A shell that waits for its order: one started ahead, or a new one. @throws As `startShell`. */
  take(): StartedChild | UnstartedChild;
  /** Soon make up for all that was taken, shells and pipes. */
  refillSoon(): void;
  /** Start one more at once, where one is missing. */
  addOne(): void;
  /** End those that wait. */
  close(): void;
}

/** Replacements are started this long after a take: their forks must not delay the output of the shell just taken. */
const REFILL_MS = 5;

/** What shells are made of. */
export interface ShellParts {
  readonly pipes: PipeSupply;
  /** Gives each its own marker. */
  nextMarker(): string;
}

/** Keep `count` shells waiting. @param launcher Starts each; none by default. */
export function createWarmShells(
  count: number,
  { pipes, nextMarker }: ShellParts,
  launcher?: ShellLauncher,
): WarmShells {
  const waiting = new Set<StartedChild>();
  let refill: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** @returns Whether one was missing and could be started. */
  function addOne(): boolean {
    if (isClosed || waiting.size >= count) return false;
    let shell: StartedChild | UnstartedChild;
    try {
      shell = startShell(nextMarker(), pipes, launcher);
    } catch {
      // No memory for a spare shell: `take` starts one when it is wanted, and reports.
      return false;
    }
    // Whoever takes a shell listens too; one that fails or dies while it waits only must not be offered.
    shell.process.once('error', () => undefined);
    if (shell.pid === undefined) return false;
    waiting.add(shell);
    shell.process.once('exit', () => {
      if (waiting.delete(shell))
        for (const stream of [shell.output.stdout, shell.output.stderr, shell.input]) stream?.destroy();
    });
    return true;
  }

  async function fill(): Promise<void> {
    refill = undefined;
    await pipes.fill();
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
      refillSoon();
      return ready ?? startShell(nextMarker(), pipes, launcher);
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
