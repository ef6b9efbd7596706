/**
 * Limits the number and the age of sockets without a valid credential.
 *
 * They are checked periodically, so that many clients that connect at once have time to authenticate.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Limits } from '../config/limits.ts';

/** Time for a new socket to show a valid credential; then it is closed. */
const UNAUTHENTICATED_MS = 5_000;

/** Interval at which sockets are checked. Clients that connect at once have this long to authenticate. */
const CHECK_MS = 500;

/**
 * Watch the sockets of a server until it closes.
 *
 * @param isRefused Returns true for a socket beyond the connection limit, which is held only for a reply.
 * @returns A function to call when a socket has sent a valid credential.
 */
export function watchUnauthenticated(
  server: Server,
  limits: Pick<Limits, 'unauthenticatedConnections'>,
  isRefused: (socket: Socket) => boolean,
  refuse: (socket: Socket) => void,
): (socket: Socket) => void {
  /** Time of each connection, oldest first; monotonic, in milliseconds. */
  const unauthenticated = new Map<Socket, number>();
  function closeLate(): void {
    const nowMs = performance.now();
    for (const [socket, connectedMs] of unauthenticated) {
      const ageMs = nowMs - connectedMs;
      const exceedsLimit = unauthenticated.size > limits.unauthenticatedConnections && ageMs >= CHECK_MS;
      if (ageMs < UNAUTHENTICATED_MS && !exceedsLimit) return;
      unauthenticated.delete(socket);
      refuse(socket);
    }
  }
  // Timers run before sockets are read, and immediates after: after a busy period, credentials that have arrived are
  // read first.
  const timer = setInterval(() => setImmediate(closeLate), CHECK_MS).unref();
  server.once('close', () => clearInterval(timer));
  server.on('connection', (socket: Socket) => {
    if (isRefused(socket)) return;
    unauthenticated.set(socket, performance.now());
    socket.once('close', () => unauthenticated.delete(socket));
  });
  return (socket) => void unauthenticated.delete(socket);
}
