/**
 * A connection to the outside ends after a silence, and before it has taken too long or too much.
 */
import type { Socket } from 'node:net';
import type { Limits } from '../../../config/limits.ts';

/** What one connection may take. */
export type ConnectionLimits = Pick<
  Limits,
  'sandboxProxyIdleMs' | 'sandboxProxyTotalMs' | 'sandboxProxyBytes' | 'sandboxProxyLookMs'
>;

/** Bound a connection that has just been made. */
export function limitConnection(socket: Socket, limits: ConnectionLimits): void {
  const end = () => void socket.destroy();
  const endsAtMs = performance.now() + limits.sandboxProxyTotalMs;
  // Counted by the kernel's calls, not by the chunk: a look now and then is enough.
  const look = setInterval(() => {
    const bytes = socket.bytesRead + socket.bytesWritten;
    if (bytes > limits.sandboxProxyBytes || performance.now() > endsAtMs) end();
  }, limits.sandboxProxyLookMs);
  socket.setTimeout(limits.sandboxProxyIdleMs, end);
  socket.once('close', () => clearInterval(look));
}
