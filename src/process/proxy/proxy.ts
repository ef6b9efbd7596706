/**
 * Network access of sandboxes without a network: a proxy in the server, with a socket for each session.
 *
 * It ends with the server, and identifies the session by the socket.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { GauntletError, isGauntletError } from '../../base/errors.ts';
import type { AllowedHosts } from './allowed-hosts.ts';
import type { Endpoint } from '../../../config/authority.ts';
import { createDial, type Dial } from './dial.ts';
import { createLookup, type Lookup } from './lookup.ts';
import { PROXY_BOUNDS, type ProxyBounds } from './proxy-bounds.ts';
import { listenAsProxy, type ProxyServer } from './proxy-server.ts';

/** Options of `openProxy`. */
export interface ProxyOptions {
  readonly allowed: AllowedHosts;
  /** Absolute path of an empty folder, only for the sockets. */
  readonly folder: string;
  /** Bounds other than `PROXY_BOUNDS`. */
  readonly bounds?: Partial<ProxyBounds>;
  /** Default: the system's resolver. */
  readonly lookup?: Lookup;
  /** Called when a session was denied a host. */
  onDenied(sessionId: string, endpoint: Endpoint): void;
}

/** A session's access to the proxy, while it runs a command. */
export interface EnteredProxy {
  /** Absolute path of its socket. */
  readonly socketPath: string;
  leave(): void;
}

/** The proxy of all sessions. */
export interface Proxy {
  enter(sessionId: string): Promise<EnteredProxy>;
  /** End every connection. */
  close(): void;
}

/** Longest path in the address of a UNIX socket. */
const MAX_SOCKET_PATH_BYTES = 107;
/** As long as the longest name that a socket will ever have. */
const LONGEST_NAME = '1234567890123';

interface SessionProxy {
  readonly socketPath: string;
  readonly server: Promise<ProxyServer>;
  /** Number of running commands that use it. */
  running: number;
}

/** Create the proxy. @throws {GauntletError} `invalid_setting` if the folder cannot hold sockets. */
export function openProxy({ allowed, folder, lookup = createLookup(), onDenied, ...options }: ProxyOptions): Proxy {
  makeFolder(folder);
  const bounds = { ...PROXY_BOUNDS, ...options.bounds };
  const dial = createDial({ allowed, lookup, bounds });
  /** Least recently used first. */
  const sessionProxies = new Map<string, SessionProxy>();
  let count = 0;

  function open(sessionId: string): SessionProxy {
    const dialFor: Dial = async (endpoint, signal) => {
      try {
        return await dial(endpoint, signal);
      } catch (error) {
        if (isGauntletError(error, 'permission_denied')) onDenied(sessionId, endpoint);
        throw error;
      }
    };
    const socketPath = join(folder, String((count += 1)));
    return { socketPath, server: listenAsProxy(socketPath, dialFor, bounds), running: 0 };
  }

  function closeSessionProxy(sessionId: string): void {
    const sessionProxy = sessionProxies.get(sessionId);
    sessionProxies.delete(sessionId);
    // If it never listened, there is nothing to close, and the caller of `enter` got the error.
    sessionProxy?.server.then((server) => server.close()).catch(() => undefined);
  }

  function leave(sessionId: string, sessionProxy: SessionProxy): void {
    sessionProxy.running -= 1;
    if (sessionProxies.get(sessionId) !== sessionProxy) return;
    sessionProxies.delete(sessionId);
    sessionProxies.set(sessionId, sessionProxy);
    const idle = [...sessionProxies].filter(([, { running }]) => running === 0);
    for (const [oldest] of idle.slice(0, Math.max(0, idle.length - bounds.idleSockets))) closeSessionProxy(oldest);
  }

  return {
    async enter(sessionId) {
      const sessionProxy = sessionProxies.get(sessionId) ?? open(sessionId);
      sessionProxies.set(sessionId, sessionProxy);
      sessionProxy.running += 1;
      try {
        await sessionProxy.server;
      } catch (cause) {
        closeSessionProxy(sessionId);
        throw new GauntletError('resource_exhausted', 'Cannot open the sandbox’s way to the network. Try again', {
          cause,
        });
      }
      return { socketPath: sessionProxy.socketPath, leave: () => leave(sessionId, sessionProxy) };
    },
    close() {
      for (const sessionId of sessionProxies.keys()) closeSessionProxy(sessionId);
    },
  };
}

function makeFolder(folder: string): void {
  if (Buffer.byteLength(join(folder, LONGEST_NAME)) > MAX_SOCKET_PATH_BYTES) {
    const fix = 'Set GAUNTLET_DATA_DIR to a folder with a shorter path';
    throw new GauntletError(
      'invalid_setting',
      `Cannot listen in "${folder}": the path is too long for sockets. ${fix}`,
    );
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}
