import type { WebSocket } from '@fastify/websocket';
import { describe, expect, test } from 'vitest';
import { createOutlet } from '../../../routes/stream/outlet.ts';

/** A connection that sends each frame by itself. */
const LOOSE_WIRE = { cork: () => undefined, uncork: () => undefined };

/** A socket that holds what it is given until `flush`. */
function holdingSocket() {
  const waiting: (() => void)[] = [];
  const socket = {
    OPEN: 1,
    readyState: 1,
    bufferedAmount: 0,
    send(text: string, done?: () => void) {
      socket.bufferedAmount += text.length;
      if (done) waiting.push(done);
    },
  };
  const flush = () => {
    socket.bufferedAmount = 0;
    for (const done of waiting.splice(0)) done();
  };
  return { socket, flush, asSocket: socket as unknown as WebSocket };
}

describe('an outlet', () => {
  test('waits for nothing while the socket holds little', () => {
    const { socket, asSocket } = holdingSocket();
    const outlet = createOutlet(asSocket, LOOSE_WIRE, { slowReaderMs: 1_000 }, 10);
    expect(outlet.write('12345')).toBeUndefined();
    expect(outlet.write('12345')).toBeUndefined();
    expect(socket.bufferedAmount).toBe(10);
  });

  test('waits until what is held has left', async () => {
    const { flush, asSocket } = holdingSocket();
    const outlet = createOutlet(asSocket, LOOSE_WIRE, { slowReaderMs: 1_000 }, 10);
    const waiting = outlet.write('12345678901');
    flush();
    expect(await waiting).toBe(true);
  });

  test('gives up on a reader that takes nothing, not on one that is slow', async () => {
    const { socket, asSocket } = holdingSocket();
    const outlet = createOutlet(asSocket, LOOSE_WIRE, { slowReaderMs: 20 }, 10);
    const startMs = performance.now();
    const shrinking = setInterval(() => (socket.bufferedAmount = Math.max(0, socket.bufferedAmount - 1)), 5);
    const waiting = outlet.write('x'.repeat(30));
    expect(await waiting).toBe(false);
    clearInterval(shrinking);
    expect(performance.now() - startMs).toBeGreaterThan(100);
  });
});
