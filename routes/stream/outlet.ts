/**
 * What leaves over one WebSocket: at once while the client reads, else at its pace.
 *
 * Nothing is queued here but what the socket itself holds, and that has a bound: the cursor waits.
 */
import type { WebSocket } from '@fastify/websocket';
import type { Limits } from '../../config/limits.ts';

/** Writes to one client. */
export interface Outlet {
  /** Send a frame of this connection's own. */
  control(frame: object): void;
  /** Send a log frame's text. @returns Undefined, or a promise to await before the next: false when the client has stopped reading. */
  write(text: string): Promise<boolean> | undefined;
}

/** Make an outlet. */
export function createOutlet(socket: WebSocket, limits: Pick<Limits, 'socketBufferBytes' | 'slowReaderMs'>): Outlet {
  return {
    control(frame) {
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame));
    },
    write(text) {
      if (socket.bufferedAmount + text.length <= limits.socketBufferBytes) {
        socket.send(text);
        return undefined;
      }
      return flushed(socket, text, limits.slowReaderMs);
    },
  };
}

/** Send and wait until the kernel has it all; false when nothing moved for `stallMs`. */
function flushed(socket: WebSocket, text: string, stallMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    // An error means that the connection is gone, which its own handlers see to.
    socket.send(text, () => end(true));
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
