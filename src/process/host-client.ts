/**
 * The server's client of the process host: starts a host on first use, and another one when it is lost.
 */
import { randomBytes } from 'node:crypto';
import type { Limits } from '../../config/limits.ts';
import { GauntletError } from '../base/errors.ts';
import { startHost, type StartedHost } from './host-connection.ts';
import { type HostLink, openHostLink } from './host-link.ts';
import type { HostedProcess, JailHost, ProcessHost, SpawnRequest } from './process-host.ts';

/** Options of `createProcessHost`. */
export interface ProcessHostOptions {
  readonly limits: Pick<Limits, 'killGraceMs' | 'warmShells' | 'jailMemoryBytes' | 'hostedChildren'>;
  /** Id of the data directory, the first part of every marker: `[A-Za-z0-9_-]+`. Two servers never share one. */
  readonly ownerId: string;
  /**
   * Path or `file:` URL of the host's program. Default: `host/main.ts` when run from source, `process-host.js` beside
   * the bundle otherwise.
   */
  readonly hostEntry?: string | URL;
  /** A host that runs already: the first to be used. */
  readonly started?: StartedHost;
}

/** A process host, with its start and clean-up. */
export interface ManagedProcessHost extends ProcessHost, JailHost {
  /** Start the host and its shells before the first spawn. Resolves when it answers. */
  warm(): Promise<void>;
  /**
   * End what an earlier server with the same `ownerId` left running; call once at start-up.
   *
   * @returns Number of processes found.
   */
  sweepOrphans(): Promise<number>;
  /** Return its figures for operators. */
  figures(): ProcessHostFigures;
}

/** Figures of a process host. */
export interface ProcessHostFigures {
  readonly isRunning: boolean;
  /** Hosts that ended without being asked to. */
  readonly lossCount: number;
  readonly childCount: number;
}

/** Make a process host; nothing is started before `warm`, `sweepOrphans` or the first `spawn`. */
export function createProcessHost({ limits, ownerId, hostEntry, started }: ProcessHostOptions): ManagedProcessHost {
  let link: HostLink | undefined;
  let isClosed = false;
  let wasLost = false;
  let lossCount = 0;

  /** Return the running host, or start one; concurrent callers share the start. */
  function linked(): HostLink {
    if (isClosed) throw new GauntletError('shutting_down', 'Cannot start a process: the server is shutting down');
    if (link !== undefined) return link;
    const settings = {
      ownerId,
      hostTag: randomBytes(4).toString('hex'),
      killGraceMs: limits.killGraceMs,
      warmShells: limits.warmShells,
      jailMemoryBytes: limits.jailMemoryBytes,
      children: limits.hostedChildren,
    };
    const host = started ?? startHost(hostEntry);
    started = undefined;
    const opened = openHostLink(host, settings, () => {
      wasLost = true;
      lossCount++;
      if (link === opened) link = undefined;
    });
    link = opened;
    // A killed host could not clean up; processes that left its group are found by their marker.
    if (wasLost) void opened.sweep();
    wasLost = false;
    return opened;
  }

  return {
    spawn: (request: SpawnRequest): HostedProcess => linked().spawn(request),
    jailSupport: async () => linked().jailSupport(),
    openJail: async (rules) => linked().openJail(rules),
    warm: () => linked().ping(),
    sweepOrphans: () => linked().sweep(),
    figures: () => ({ isRunning: link !== undefined, lossCount, childCount: link?.childCount ?? 0 }),
    async close() {
      isClosed = true;
      await link?.close();
      link = undefined;
    },
  };
}
