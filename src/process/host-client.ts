/**
 * The server's side of the process host: starts it when first wanted, starts another when it is lost.
 */
import { randomBytes } from 'node:crypto';
import type { Limits } from '../../config/limits.ts';
import { GauntletError } from '../base/errors.ts';
import { startHost, type StartedHost } from './host-connection.ts';
import { type HostLink, openHostLink } from './host-link.ts';
import type { HostedProcess, JailHost, ProcessHost, SpawnRequest } from './process-host.ts';

/** What the process host needs to know. */
export interface ProcessHostOptions {
  readonly limits: Pick<
    Limits,
    | 'killGraceMs'
    | 'warmShells'
    | 'warmSandboxes'
    | 'warmJails'
    | 'jailProcesses'
    | 'jailMemoryBytes'
    | 'jailCpuMs'
    | 'jailFileBytes'
    | 'childWindowBytes'
    | 'hostedChildren'
  >;
  /** The data directory's id, the first half of every marker: `[A-Za-z0-9_-]+`. Two servers never share one. */
  readonly ownerId: string;
  /** The host's program, where it is not the one beside this file. */
  readonly hostEntry?: string | URL;
  /** A host that runs already: the first to be used. */
  readonly started?: StartedHost;
}

/** A process host and its upkeep. */
export interface ManagedProcessHost extends ProcessHost, JailHost {
  /** Start the host and its shells ahead of the first spawn. Resolves when it answers. */
  warm(): Promise<void>;
  /**
   * End what an earlier server with the same `ownerId` left running; call once at start-up.
   *
   * @returns How many processes were found.
   */
  sweepOrphans(): Promise<number>;
}

/** Make a process host; nothing is started before `warm`, `sweepOrphans` or the first `spawn`. */
export function createProcessHost({ limits, ownerId, hostEntry, started }: ProcessHostOptions): ManagedProcessHost {
  let link: HostLink | undefined;
  let isClosed = false;
  let wasLost = false;

  /** The host that runs, or a new one: one start however many ask. */
  function linked(): HostLink {
    if (isClosed) throw new GauntletError('shutting_down', 'Cannot start a process: the server is shutting down');
    if (link !== undefined) return link;
    const settings = {
      ownerId,
      hostTag: randomBytes(4).toString('hex'),
      killGraceMs: limits.killGraceMs,
      warmShells: limits.warmShells,
      warmSandboxes: limits.warmSandboxes,
      warmJails: limits.warmJails,
      jailProcesses: limits.jailProcesses,
      jailMemoryBytes: limits.jailMemoryBytes,
      jailCpuSeconds: Math.ceil(limits.jailCpuMs / 1_000),
      jailFileBytes: limits.jailFileBytes,
      windowBytes: limits.childWindowBytes,
      children: limits.hostedChildren,
    };
    const host = started ?? startHost(hostEntry);
    started = undefined;
    const opened = openHostLink(host, settings, () => {
      wasLost = true;
      if (link === opened) link = undefined;
    });
    link = opened;
    // A host that was killed could not clear up; what left its group is found by its marker.
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
    async close() {
      isClosed = true;
      await link?.close();
      link = undefined;
    },
  };
}
