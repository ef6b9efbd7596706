/**
 * Started shells of every kind: plain ones, and one for each recently used jail and launcher.
 */
import type { ShellLauncher } from '../process-host.ts';
import type { JailEntry } from './jails.ts';
import type { ChildParts, StartedChild } from './start-child.ts';
import type { UnstartedProcess } from './starter.ts';
import { createWarmShells, type WarmShells } from './warm-shells.ts';

/** Jail or launcher of a requested shell; a plain shell has neither. */
export interface RequestedShell {
  readonly launcher?: ShellLauncher;
  readonly jail?: { readonly key: string; readonly entry: JailEntry };
  /** Limits of the launched shell, if it has limits. */
  readonly limits?: JailEntry;
}

/** Source of waiting shells. */
export interface ShellSupply {
  /** Return a shell that waits for its script. @throws As `startShell`. */
  take(requested: RequestedShell): StartedChild | UnstartedProcess;
  /** Start replacements of the kind taken last, after a short delay. */
  refillSoon(): void;
  /** Start one more of the kind taken last, if one is missing. */
  addOne(): void;
  /** End the shells that wait in a jail, and start no more of them: its descriptor is about to be closed. */
  forgetJail(key: string): void;
  /** End all waiting shells. */
  close(): void;
}

/** Numbers of shells kept waiting. */
export interface SupplyCounts {
  readonly plain: number;
  /** Number of launchers, and of jails, that keep one shell each; the least recently used is evicted. */
  readonly launchers: number;
  readonly jails: number;
}

/** Create a supply. */
export function createShellSupply(counts: SupplyCounts, parts: ChildParts): ShellSupply {
  const plain = { shells: createWarmShells(counts.plain, parts, {}), isWorthRefilling: true };
  const launched = createShellCache(counts.launchers);
  const jailed = createShellCache(counts.jails);
  let latest: KeptShells = plain;

  function shellsFor({ launcher, jail, limits }: RequestedShell): KeptShells {
    if (jail) return jailed.of(jail.key, () => createWarmShells(1, parts, { jail: jail.entry }));
    if (!launcher) return plain;
    const { command, files = [], identity } = launcher;
    const key = [identity, String(limits !== undefined), ...files, ...command].join('\0');
    return launched.of(key, () => createWarmShells(1, parts, { launcher, jail: limits }));
  }

  return {
    take(requested) {
      latest = shellsFor(requested);
      return latest.shells.take();
    },
    refillSoon() {
      if (latest.isWorthRefilling) latest.shells.refillSoon();
    },
    addOne() {
      if (latest.isWorthRefilling) latest.shells.addOne();
    },
    forgetJail(key) {
      jailed.forget(key);
    },
    close() {
      for (const shells of [plain.shells, ...launched.all(), ...jailed.all()]) shells.close();
    },
  };
}

/** Shells of one kind. */
interface KeptShells {
  readonly shells: WarmShells;
  /** True if a shell started ahead is likely to be used before its kind is evicted. */
  readonly isWorthRefilling: boolean;
}

/** Shells by key, for at most `most` kinds. */
function createShellCache(maxKinds: number) {
  /** Least recently used first. */
  const byKey = new Map<string, WarmShells>();
  return {
    all: () => byKey.values(),
    /** A closed kind starts no shells ahead, even if a caller still holds it. */
    forget(key: string): void {
      byKey.get(key)?.close();
      byKey.delete(key);
    },
    of(key: string, make: () => WarmShells): KeptShells {
      const known = byKey.get(key);
      // If more kinds than fit are used in turn, each would be evicted before its second use.
      const isWorthRefilling = known !== undefined || byKey.size < maxKinds;
      const shells = known ?? make();
      byKey.delete(key);
      byKey.set(key, shells);
      for (const [oldest, { close }] of byKey) {
        if (byKey.size <= maxKinds) break;
        byKey.delete(oldest);
        // With a capacity of zero, the new entry is closed too: it starts a shell on demand and keeps none.
        close();
      }
      return { shells, isWorthRefilling };
    },
  };
}
