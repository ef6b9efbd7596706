/**
 * What a log costs anybody: the floor that keeps a call's frames before it sends them, against the one that does not.
 */
import { oneByOne } from '../load.ts';
import { type Row, short } from '../row.ts';
import { type RunningServer, startFloor } from '../servers.ts';
import { inTurn, type Pair } from '../statistics.ts';
import { NOOP } from './http.ts';
import { SOCKET_CLIENTS, socketNoops, socketReads } from './socket.ts';

/** Measure our server against the floor that also writes a log, and that floor against the bare one. */
export async function keptRows(ours: RunningServer, floor: RunningServer): Promise<readonly Row[]> {
  const kept = await startFloor('kept');
  try {
    const batches = (server: RunningServer) => oneByOne(server, NOOP, { count: 500 });
    const latency = await inTurn(5, await batches(ours), await batches(kept));
    const rates = await inTurn(3, await socketNoops(ours, true), await socketNoops(kept, false));
    const reads = await inTurn(5, await socketReads(ours, true), await socketReads(kept, false));
    const keptLatency = await inTurn(5, await batches(kept), await batches(floor));
    const keptRates = await inTurn(3, await socketNoops(kept, false), await socketNoops(floor, false));
    const keptReads = await inTurn(5, await socketReads(kept, false), await socketReads(floor, false));
    return [
      atMost('POST /execute no-op, latency p50 ms', latency, 1.15),
      atLeast(`no-op over the WebSocket, calls/s, ${SOCKET_CLIENTS} connections`, rates, 0.7),
      atMost('Read 10 KB over the WebSocket, p50 ms', reads, 1),
      floorOnly('POST /execute no-op, latency p50 ms', keptLatency),
      floorOnly(`no-op over the WebSocket, calls/s, ${SOCKET_CLIENTS} connections`, keptRates),
      floorOnly('Read 10 KB over the WebSocket, p50 ms', keptReads),
    ];
  } finally {
    await kept.stop();
  }
}

function atMost(what: string, pair: Pair, bar: number): Row {
  return {
    what,
    toReach: `at most ${bar} of a floor that keeps its frames`,
    ...ratio(pair),
    isReached: pair.ratio <= bar,
  };
}

function atLeast(what: string, pair: Pair, bar: number): Row {
  return {
    what,
    toReach: `at least ${bar} of a floor that keeps its frames`,
    ...ratio(pair),
    isReached: pair.ratio >= bar,
  };
}

function floorOnly(what: string, pair: Pair): Row {
  return { what: `${what}: that floor against the bare one`, toReach: '', ...ratio(pair), isReached: undefined };
}

function ratio(pair: Pair): Pick<Row, 'measured'> {
  return { measured: `${short(pair.ours)} / ${short(pair.floor)} = ${short(pair.ratio)}` };
}
