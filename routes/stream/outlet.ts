/**
 * Writes to one WebSocket: at once while the client reads, else at its pace.
 *
 * Only the socket itself buffers, up to a limit; beyond it the cursor waits.
 */
import type { Socket } from 'node:net';
import type { WebSocket } from '@fastify/websocket';
import type { Limits } from '../../config/limits.ts';
import type { ControlFrame } from '../../src/wire/control-frames.ts';

/** Writer to one client. */
export interface Outlet {
  /** Send a frame that belongs to this connection only. */
  control(frame: ControlFrame): void;
  /**
   * Send the text of a log frame.
   *
   * @returns `undefined`, or a promise to await before the next frame: false if the client has stopped reading.
   */
  write(text: string): Promise<boolean> | undefined;
  /**
   * Wait before more of the client's frames are handled.
   *
   * @returns As `write`: control frames may pile up unread too.
   */
  drained(): Promise<boolean> | undefined;
}

/** The socket below the WebSocket. */
export type Wire = Pick<Socket, 'cork' | 'uncork'>;

/** Unsent bytes a WebSocket holds before its reader waits. Small frames take some five times their text in memory. */
export const SOCKET_BUFFER_BYTES = 16 * 1_024;

/** Create an outlet. */
export function createOutlet(
  socket: WebSocket,
  wire: Wire,
  limits: Pick<Limits, 'slowReaderMs'>,
  bufferBytes: number = SOCKET_BUFFER_BYTES,
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
      if (socket.bufferedAmount + text.length <= bufferBytes) {
        socket.send(text);
        return undefined;
      }
      return flushed(socket, (done) => socket.send(text, done), limits.slowReaderMs);
    },
    drained() {
      if (socket.bufferedAmount <= bufferBytes) return undefined;
      return flushed(socket, (done) => socket.ping('', undefined, done), limits.slowReaderMs);
    },
  };
}

/** Combine the frames of one turn of the event loop, about six for a call, into one system call. */
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

/** Send, and wait until the kernel has accepted everything; false if nothing was accepted for `stallMs`. */
function flushed(socket: WebSocket, send: (done: () => void) => void, stallMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    // An error means that the connection is gone, which its own handlers process.
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
