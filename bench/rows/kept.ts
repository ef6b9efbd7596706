/**
 * What a log costs anybody: the floor that keeps a call's frames before it sends them, against the one that does not.
 */
import { oneByOne } from '../load.ts';
import { type Row, short } from '../row.ts';
import { type RunningServer, startFloor } from '../servers.ts';
import { inTurn } from '../statistics.ts';
import { NOOP } from './http.ts';
import { SOCKET_CLIENTS, socketNoops, socketReads } from './socket.ts';

/** The rows that a log weighs on most. */
export async function keptRows(floor: RunningServer): Promise<readonly Row[]> {
  const kept = await startFloor('kept');
  try {
    const batches = (server: RunningServer) => oneByOne(server, NOOP, { count: 500 });
    const latency = await inTurn(5, await batches(kept), await batches(floor));
    const rates = await inTurn(3, await socketNoops(kept, false), await socketNoops(floor, false));
    const reads = await inTurn(5, await socketReads(kept, false), await socketReads(floor, false));
    const row = (what: string, pair: typeof rates): Row => ({
      what: `${what}: a floor that keeps its frames`,
      toReach: '',
      measured: `${short(pair.ours)} / ${short(pair.floor)} = ${short(pair.ratio)}`,
      isReached: undefined,
    });
    return [
      row('POST /execute no-op, latency p50 ms', latency),
      row(`no-op over the WebSocket, calls/s, ${SOCKET_CLIENTS} connections`, rates),
      row('Read 10 KB over the WebSocket, p50 ms', reads),
    ];
  } finally {
    await kept.stop();
  }
}
