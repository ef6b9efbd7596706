/**
 * Logs the hosts that the sandbox's proxy denied, each once a session, and counts all denials.
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

/** Create the log with a count of zero. */
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
        'The sandbox denied a command access to a host that is not on its list',
      );
    },
    count: () => count,
  };
}
