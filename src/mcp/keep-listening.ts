/**
 * In the newer era a server tells of changes on a stream of its own, which may end while all else goes
 * on. It is opened again, and what may have been missed meanwhile is asked for.
 */
import type { Client } from '@modelcontextprotocol/client';
import type { Limits } from '../../config/limits.ts';
import { retryPause } from './retry-pause.ts';

/** What listening needs. */
export interface ListenOptions {
  readonly limits: Pick<Limits, 'mcpConnectMs' | 'mcpRetryMs' | 'mcpRetryMaxMs' | 'mcpRetries'>;
  /** The list of tools may have changed. */
  readonly onListChanged: () => void;
  /** Ends the listening. */
  readonly signal: AbortSignal;
}

/**
 * Keep the stream open that `client` opened when it connected, if it did.
 *
 * Resolves when `signal` is aborted, or when the server would not have it any more; never rejects.
 */
export async function keepListening(client: Client, { limits, onListChanged, signal }: ListenOptions): Promise<void> {
  let stream = client.autoOpenedSubscription;
  if (stream === undefined) return;
  const pause = retryPause(limits);
  let openedAt = performance.now();
  for (let failures = 0; failures <= limits.mcpRetries && !signal.aborted; failures++) {
    await stream?.closed;
    stream = undefined;
    if (performance.now() - openedAt >= limits.mcpRetryMaxMs) failures = 0;
    await pause.wait({ failures, isParked: false, signal });
    openedAt = performance.now();
    try {
      stream = await client.listen({ toolsListChanged: true }, { timeout: limits.mcpConnectMs, signal });
      onListChanged();
    } catch {
      // Whether the whole connection is lost shows at the next request; here it is only tried again.
    }
  }
}
