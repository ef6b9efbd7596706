/**
 * Shells of every kind: plain ones, and for each jail and each launcher used lately one started in it.
 */
import type { ShellLauncher } from '../process-host.ts';
import type { JailEntry } from './jails.ts';
import type { ChildParts, StartedChild } from './start-child.ts';
import type { UnstartedProcess } from './starter.ts';
import { createWarmShells, type WarmShells } from './warm-shells.ts';

/** The jail or launcher in which a shell is wanted; neither: a plain one. */
export interface WantedShell {
  readonly launcher?: ShellLauncher;
  readonly jail?: { readonly key: string; readonly entry: JailEntry };
  /** Limits of the launcher, where it is to be limited. */
  readonly limits?: JailEntry;
}

/** Where shells come from. */
export interface ShellSupply {
  /** A shell that waits for its order. @throws As `startShell`. */
  take(wanted: WantedShell): StartedChild | UnstartedProcess;
  /** Soon make up for what was taken last. */
  refillSoon(): void;
  /** Start one more of the kind taken last at once, where one is missing. */
  addOne(): void;
  /** End those that wait in a jail, and start no more of them: its descriptor is about to be closed. */
  forgetJail(key: string): void;
  /** End those that wait. */
  close(): void;
}

/** Shells that are kept waiting. */
export interface SupplyCounts {
  readonly plain: number;
  /** Launchers, and jails, for each of which one waits: the one used longest ago makes room. */
  readonly launchers: number;
  readonly jails: number;
}

/** Make a supply. */
export function createShellSupply(counts: SupplyCounts, parts: ChildParts): ShellSupply {
  const plain = { shells: createWarmShells(counts.plain, parts, {}), isWorthRefilling: true };
  const launched = createLatest(counts.launchers);
  const jailed = createLatest(counts.jails);
  let latest: KeptShells = plain;

  function shellsFor({ launcher, jail, limits }: WantedShell): KeptShells {
    if (jail) return jailed.of(jail.key, () => createWarmShells(1, parts, { jail: jail.entry }));
    if (!launcher) return plain;
    const { command, files = [], identity } = launcher;
    const key = [identity, String(limits !== undefined), ...files, ...command].join('\0');
    return launched.of(key, () => createWarmShells(1, parts, { launcher, jail: limits }));
  }

  return {
    take(wanted) {
      latest = shellsFor(wanted);
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
  /** Whether one that is started ahead is likely to be wanted before it has to make room. */
  readonly isWorthRefilling: boolean;
}

/** Shells by key, at most `most` kinds of them. */
function createLatest(most: number) {
  /** The one used last stands last. */
  const byKey = new Map<string, WarmShells>();
  return {
    all: () => byKey.values(),
    /** A kind that is closed starts no shell ahead, whoever still holds it. */
    forget(key: string): void {
      byKey.get(key)?.close();
      byKey.delete(key);
    },
    of(key: string, make: () => WarmShells): KeptShells {
      const known = byKey.get(key);
      // Where many kinds are used in turn, each would be ended before its second use.
      const isWorthRefilling = known !== undefined || byKey.size < most;
      const shells = known ?? make();
      byKey.delete(key);
      byKey.set(key, shells);
      for (const [oldest, { close }] of byKey) {
        if (byKey.size <= most) break;
        byKey.delete(oldest);
        // With room for none, the one just made starts what is wanted and keeps nothing.
        close();
      }
      return { shells, isWorthRefilling };
    },
  };
}
