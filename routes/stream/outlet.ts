/**
 * What leaves over one WebSocket: at once while the client reads, else at its pace.
 *
 * Nothing is queued here but what the socket itself holds, and that has a bound: the cursor waits.
 */
import type { Socket } from 'node:net';
import type { WebSocket } from '@fastify/websocket';
import type { Limits } from '../../config/limits.ts';

/** Writes to one client. */
export interface Outlet {
  /** Send a frame of this connection's own. */
  control(frame: object): void;
  /** Send a log frame's text. @returns Undefined, or a promise to await before the next: false when the client has stopped reading. */
  write(text: string): Promise<boolean> | undefined;
  /** Before more of the client's frames are answered. @returns As `write`: its own frames may pile up unread too. */
  drained(): Promise<boolean> | undefined;
}

/** The connection below the WebSocket. */
export type Wire = Pick<Socket, 'cork' | 'uncork'>;

/** Make an outlet. */
export function createOutlet(
  socket: WebSocket,
  wire: Wire,
  limits: Pick<Limits, 'socketBufferBytes' | 'slowReaderMs'>,
): Outlet {
  const gather = oneWriteATurn(wire);
  return {
    control(frame) {
      if (socket.readyState !== socket.OPEN) return;
      gather();
      socket.send(JSON.stringify(frame));
    },
    write(text) {
      gather();
      if (socket.bufferedAmount + text.length <= limits.socketBufferBytes) {
        socket.send(text);
        return undefined;
      }
      return flushed(socket, (done) => socket.send(text, done), limits.slowReaderMs);
    },
    drained() {
      if (socket.bufferedAmount <= limits.socketBufferBytes) return undefined;
      return flushed(socket, (done) => socket.ping('', undefined, done), limits.slowReaderMs);
    },
  };
}

/** A call comes to half a dozen frames at once: they leave in one system call. */
function oneWriteATurn(wire: Wire): () => void {
  let isCorked = false;
  const release = () => {
    isCorked = false;
    wire.uncork();
  };
  return () => {
    if (isCorked) return;
    isCorked = true;
    wire.cork();
    process.nextTick(release);
  };
}

/** Send and wait until the kernel has it all; false when nothing moved for `stallMs`. */
function flushed(socket: WebSocket, send: (done: () => void) => void, stallMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    // An error means that the connection is gone, which its own handlers see to.
    send(() => end(true));
    let heldBytes = socket.bufferedAmount;
    const watch = setInterval(() => {
      if (socket.bufferedAmount >= heldBytes) return end(false);
      heldBytes = socket.bufferedAmount;
    }, stallMs);
    function end(isFlushed: boolean): void {
      clearInterval(watch);
      resolve(isFlushed);
    }
  });
}
