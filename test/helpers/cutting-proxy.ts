/** A proxy on loopback that cuts a connection after so many bytes from the server, wherever that is. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll } from 'vitest';

const closers: (() => void)[] = [];
afterAll(() => closers.forEach((close) => close()));

/** A proxy in front of a server. */
export interface CuttingProxy {
  /** Where clients connect. */
  readonly url: string;
  /** The next connection is cut after so many bytes; none: it lives. */
  cutAfter(bytes: number | undefined): void;
  /** Connections that were cut. */
  cuts(): number;
}

/**
 * Start one; it ends with the test file.
 *
 * @param upstreamUrl Address of the server; called for each connection, since a server may start later than its proxy.
 */
export async function cuttingProxy(upstreamUrl: () => string): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let cut: number | undefined;
  let cuts = 0;
  const server = createServer((client) => {
    const { hostname, port, host } = new URL(upstreamUrl());
    const upstream = connect({ host: hostname, port: Number(port) });
    let left = cut ?? Number.POSITIVE_INFINITY;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // Either end may go at any time: that is what is tested.
      socket.on('error', () => socket.destroy());
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    // Clients name the proxy, which the server does not serve.
    client.on('data', (chunk) => {
      upstream.write(chunk.toString('latin1').replace(/^host: .*$/im, `host: ${host}`), 'latin1');
    });
    client.once('end', () => upstream.end());
    upstream.on('data', (chunk) => {
      const piece = chunk.subarray(0, left);
      left -= piece.length;
      client.write(piece);
      if (left > 0 || piece.length === 0) return;
      cuts += 1;
      client.destroySoon();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutAfter: (bytes) => (cut = bytes),
    cuts: () => cuts,
  };
}
