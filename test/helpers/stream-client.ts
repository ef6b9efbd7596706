/** A WebSocket client that waits for frames. */
import { once } from 'node:events';
import WebSocket, { type ClientOptions } from 'ws';
import { AUTHORIZATION } from './listening-app.ts';

/** A frame as a client reads it. */
export interface ClientSideFrame {
  readonly type: string;
  readonly seq?: number;
  readonly [field: string]: unknown;
}

/** How a client connects. */
export interface StreamOptions extends ClientOptions {
  readonly protocols?: readonly string[];
  /** Said at once; `false`: nothing is. */
  readonly hello?: object | false;
}

/** Open a stream. Rejects with the status when the upgrade is refused. */
export async function openStream(url: string, sessionId: string, options: StreamOptions = {}) {
  const { protocols = ['gauntlet.v1'], hello = {}, ...rest } = options;
  const address = `${url.replace('http', 'ws')}/sessions/${sessionId}/stream`;
  const socket = new WebSocket(address, [...protocols], { headers: AUTHORIZATION, ...rest });
  const frames: ClientSideFrame[] = [];
  const waiting = new Set<() => void>();
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  socket.on('message', (data) => {
    frames.push(JSON.parse(String(data)) as ClientSideFrame);
    for (const look of waiting) look();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.on('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      reject(new Error(`refused with ${response.statusCode}`));
      response.resume();
      socket.terminate();
    });
  });
  if (hello !== false) socket.send(JSON.stringify({ type: 'hello', ...hello }));

  return {
    socket,
    frames,
    closed,
    send: (frame: object) => socket.send(JSON.stringify(frame)),
    /** The first frame that matches, whether it came already or comes later. */
    next: (matches: string | ((frame: ClientSideFrame) => boolean)) =>
      new Promise<ClientSideFrame>((resolve) => {
        const isWanted = typeof matches === 'string' ? ({ type }: ClientSideFrame) => type === matches : matches;
        const look = () => {
          const found = frames.find(isWanted);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    close: async () => {
      socket.close();
      if (socket.readyState !== socket.CLOSED) await once(socket, 'close');
    },
  };
}
