/**
 * Shells of every kind: plain ones, and for each launcher used lately one started by it.
 */
import type { ShellLauncher } from '../process-host.ts';
import type { ChildParts, StartedChild } from './start-child.ts';
import type { UnstartedProcess } from './starter.ts';
import { createWarmShells } from './warm-shells.ts';
import type { WarmShells } from './warm-shells.ts';

/** Where shells come from. */
export interface ShellSupply {
  /** A shell that waits for its order. @throws As `startShell`. */
  take(launcher?: ShellLauncher): StartedChild | UnstartedProcess;
  /** Soon make up for what was taken last. */
  refillSoon(): void;
  /** Start one more of the kind taken last at once, where one is missing. */
  addOne(): void;
  /** End those that wait. */
  close(): void;
}

/** Make a supply of `plain` shells, and of one each for `launchers` launchers: the least used makes room. */
export function createShellSupply(
  counts: { readonly plain: number; readonly launchers: number },
  parts: ChildParts,
): ShellSupply {
  const plain = createWarmShells(counts.plain, parts);
  /** The one used last stands last. */
  const launched = new Map<string, WarmShells>();
  let latest = plain;

  function shellsOf(launcher: ShellLauncher): WarmShells {
    const { command, files = [], identity } = launcher;
    const key = [identity, ...files, ...command].join('\0');
    const shells = launched.get(key) ?? createWarmShells(1, parts, launcher);
    launched.delete(key);
    launched.set(key, shells);
    for (const [oldest, { close }] of launched) {
      if (launched.size <= counts.launchers) break;
      launched.delete(oldest);
      // With room for none, the one just made starts what is wanted and keeps nothing.
      close();
    }
    return shells;
  }

  return {
    take(launcher) {
      latest = launcher === undefined ? plain : shellsOf(launcher);
      return latest.take();
    },
    refillSoon: () => latest.refillSoon(),
    addOne: () => latest.addOne(),
    close() {
      for (const shells of [plain, ...launched.values()]) shells.close();
    },
  };
}
