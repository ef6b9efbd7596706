/**
 * Sockets that have not shown a good credential: few, and not for long.
 *
 * They are looked over now and then, so that many clients who connect at once have time to show theirs.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Limits } from '../config/limits.ts';

/**
 * Watch the sockets of a server until it closes.
 *
 * @param isRefused Tells that a socket is held only to be told that there are too many.
 * @returns Tells that a socket has shown a good credential.
 */
export function watchUnauthenticated(
  server: Server,
  limits: Pick<Limits, 'unauthenticatedConnections' | 'unauthenticatedMs' | 'requestCheckMs'>,
  isRefused: (socket: Socket) => boolean,
  refuse: (socket: Socket) => void,
): (socket: Socket) => void {
  /** When each came, the oldest first; monotonic, in milliseconds. */
  const unauthenticated = new Map<Socket, number>();
  function closeLate(): void {
    const nowMs = performance.now();
    for (const [socket, cameMs] of unauthenticated) {
      const agedMs = nowMs - cameMs;
      const isOneTooMany = unauthenticated.size > limits.unauthenticatedConnections && agedMs >= limits.requestCheckMs;
      if (agedMs < limits.unauthenticatedMs && !isOneTooMany) return;
      unauthenticated.delete(socket);
      refuse(socket);
    }
  }
  // Timers run before sockets are read and immediates run after that: where the event loop was busy, the credentials
  // that have arrived meanwhile are seen first.
  const look = setInterval(() => setImmediate(closeLate), limits.requestCheckMs).unref();
  server.once('close', () => clearInterval(look));
  server.on('connection', (socket: Socket) => {
    if (isRefused(socket)) return;
    unauthenticated.set(socket, performance.now());
    socket.once('close', () => unauthenticated.delete(socket));
  });
  return (socket) => void unauthenticated.delete(socket);
}
