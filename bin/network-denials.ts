/**
 * What the sandbox's proxy refused: each host once a session in the log, and all of them counted.
 */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { SandboxOptions } from '../src/process/sandbox.ts';

/** Hosts refused to one session that are named in the log; the others are counted. */
const MAX_LOGGED_HOSTS = 50;

/** Sessions of which it is remembered what was logged. */
const MAX_SESSIONS = 1_000;

/** Refusals, told and counted. */
export interface NetworkDenials {
  readonly onDenied: SandboxOptions['onDenied'];
  count(): number;
}

/** Begin with none. */
export function createNetworkDenials(logger: Logger): NetworkDenials {
  const logged = new LRUCache<string, Set<string>>({ max: MAX_SESSIONS });
  let count = 0;
  return {
    onDenied(sessionId, { host, port }) {
      count += 1;
      const hosts = logged.get(sessionId) ?? new Set();
      logged.set(sessionId, hosts);
      const name = `${host}:${port}`;
      if (hosts.has(name) || hosts.size >= MAX_LOGGED_HOSTS) return;
      hosts.add(name);
      logger.warn(
        { session_id: sessionId, host, port },
        'The sandbox kept a command from a host that is not on its list',
      );
    },
    count: () => count,
  };
}
