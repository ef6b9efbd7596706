/**
 * The way out of sandboxes without a network: a proxy in the server, with a socket for each session.
 *
 * It dies with the server, and knows by the socket which session asks.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../../../config/limits.ts';
import { GauntletError, isGauntletError } from '../../base/errors.ts';
import type { AllowedHosts } from './allowed-hosts.ts';
import type { Endpoint } from '../../../config/authority.ts';
import { createDial, type Dial, type DialParts } from './dial.ts';
import { createLookup, type Lookup } from './lookup.ts';
import { listenAsProxy, type ProxyLimits, type ProxyServer } from './proxy-server.ts';

/** How to make it. */
export interface ProxyOptions {
  readonly allowed: AllowedHosts;
  /** Absolute; for the sockets alone, and empty. */
  readonly folder: string;
  readonly limits: DialParts['limits'] & ProxyLimits & Pick<Limits, 'sandboxProxyLookups' | 'sandboxProxySockets'>;
  /** Default: the machine's own. */
  readonly lookup?: Lookup;
  /** A session was refused a host. */
  onDenied(sessionId: string, endpoint: Endpoint): void;
}

/** A session's way in, while it runs something. */
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

/** What an address of a UNIX socket has room for. */
const LONGEST_SOCKET_PATH_BYTES = 107;
/** As long as the last name a socket will ever have. */
const ANY_NAME = '1234567890123';

interface Door {
  readonly socketPath: string;
  readonly server: Promise<ProxyServer>;
  /** Commands that run with it. */
  running: number;
}

/** Make it. @throws {GauntletError} `invalid_setting` where its sockets cannot be. */
export function openProxy({ allowed, folder, limits, lookup = createLookup(limits), onDenied }: ProxyOptions): Proxy {
  makeFolder(folder);
  const dial = createDial({ allowed, lookup, limits });
  /** The one left last stands last. */
  const doors = new Map<string, Door>();
  let count = 0;

  function open(sessionId: string): Door {
    const dialFor: Dial = async (endpoint, signal) => {
      try {
        return await dial(endpoint, signal);
      } catch (error) {
        if (isGauntletError(error, 'permission_denied')) onDenied(sessionId, endpoint);
        throw error;
      }
    };
    const socketPath = join(folder, String((count += 1)));
    return { socketPath, server: listenAsProxy(socketPath, dialFor, limits), running: 0 };
  }

  function closeDoor(sessionId: string): void {
    const door = doors.get(sessionId);
    doors.delete(sessionId);
    // One that never listened has nothing to close, and whoever entered was told.
    door?.server.then((server) => server.close()).catch(() => undefined);
  }

  function leave(sessionId: string, door: Door): void {
    door.running -= 1;
    if (doors.get(sessionId) !== door) return;
    doors.delete(sessionId);
    doors.set(sessionId, door);
    const idle = [...doors].filter(([, { running }]) => running === 0);
    for (const [oldest] of idle.slice(0, Math.max(0, idle.length - limits.sandboxProxySockets))) closeDoor(oldest);
  }

  return {
    async enter(sessionId) {
      const door = doors.get(sessionId) ?? open(sessionId);
      doors.set(sessionId, door);
      door.running += 1;
      try {
        await door.server;
      } catch (cause) {
        closeDoor(sessionId);
        throw new GauntletError('resource_exhausted', 'Cannot open the sandbox’s way to the network. Try again', {
          cause,
        });
      }
      return { socketPath: door.socketPath, leave: () => leave(sessionId, door) };
    },
    close() {
      for (const sessionId of doors.keys()) closeDoor(sessionId);
    },
  };
}

function makeFolder(folder: string): void {
  if (Buffer.byteLength(join(folder, ANY_NAME)) > LONGEST_SOCKET_PATH_BYTES) {
    const fix = 'Set GAUNTLET_DATA_DIR to a folder with a shorter path';
    throw new GauntletError(
      'invalid_setting',
      `Cannot listen in "${folder}": the path is too long for sockets. ${fix}`,
    );
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}
