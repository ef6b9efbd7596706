/**
 * The way out of a sandbox that may reach some hosts: the proxy at one end, the bridge to it at the other.
 */
import { allowedHosts } from '../proxy/allowed-hosts.ts';
import { openProxy, type ProxyOptions } from '../proxy/proxy.ts';
import { BRIDGE_COMMAND, bridgeMounts, proxyVariables } from './bridge.ts';
import type { BwrapOptions } from './bwrap.ts';

/** How to make it. */
export interface SandboxProxyOptions extends Pick<ProxyOptions, 'limits' | 'lookup' | 'onDenied'> {
  /** Every one must cover a host. */
  readonly lists: readonly (readonly string[])[];
  /** Absolute; for the proxy's sockets alone. */
  readonly socketFolder: string;
}

/** What a sandbox is made with, while a session's command runs in it. */
export interface EnteredProxy extends Pick<BwrapOptions, 'mounts' | 'variables'> {
  /** Program and arguments that start the shell in the sandbox. */
  readonly command: readonly string[];
  leave(): void;
}

/** The way out of all sandboxes. */
export interface SandboxProxy {
  /** What can be reached, as the lists have it. */
  readonly hosts: readonly string[];
  enter(sessionId: string): Promise<EnteredProxy>;
  close(): void;
}

/** Make it. @throws {GauntletError} As `openProxy`. */
export function openSandboxProxy({ lists, socketFolder: folder, ...options }: SandboxProxyOptions): SandboxProxy {
  const allowed = allowedHosts(lists);
  const proxy = openProxy({ ...options, allowed, folder });
  const variables = proxyVariables(allowed.mentions);
  return {
    hosts: allowed.names,
    async enter(sessionId) {
      const { socketPath, leave } = await proxy.enter(sessionId);
      return { mounts: bridgeMounts(socketPath), variables, command: BRIDGE_COMMAND, leave };
    },
    close: () => proxy.close(),
  };
}
