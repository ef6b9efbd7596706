/**
 * The HTTP doors: the tool list as bytes, and a call that does nothing.
 */
import autocannon from 'autocannon';
import { httpClient } from '../clients.ts';
import { oneByOne, together } from '../load.ts';
import { type Row, short } from '../row.ts';
import type { RunningServer } from '../servers.ts';
import { inTurn } from '../statistics.ts';

const CLIENTS = 64;
/** The call that does nothing. */
export const NOOP = { name: 'Noop', input: {} };

/** `GET /tools` against Fastify sending the same bytes. */
export async function toolListRow(ours: RunningServer, floor: RunningServer): Promise<Row> {
  const list = await httpClient(ours).send('GET', '/tools');
  await httpClient(floor).send('PUT', '/tools', list);
  const load = async (server: RunningServer) => {
    const { requests } = await autocannon({
      url: `${server.url}/tools`,
      headers: { ...server.headers },
      connections: 16,
      duration: 2,
    });
    return requests.average;
  };
  const rates = await inTurn(
    3,
    () => load(ours),
    () => load(floor),
  );
  return {
    what: 'GET /tools, replies/s',
    toReach: 'at least 0.9 floor',
    measured: `${short(rates.ours)} / ${short(rates.floor)} = ${short(rates.ratio)}`,
    isReached: rates.ratio >= 0.9,
  };
}

/** `POST /execute` with a no-op: one client's latency, and calls a second of many, each in its session. */
export async function noopRows(ours: RunningServer, floor: RunningServer): Promise<readonly Row[]> {
  const load = { clients: CLIENTS, forMs: 2_000 };
  const latency = await inTurn(
    5,
    await oneByOne(ours, NOOP, { count: 500 }),
    await oneByOne(floor, NOOP, { count: 500 }),
  );
  const rates = await inTurn(3, await together(ours, NOOP, load), await together(floor, NOOP, load));
  return [
    {
      what: 'POST /execute no-op, latency p50 ms',
      toReach: 'at most 1.5 floor',
      measured: `${short(latency.ours)} / ${short(latency.floor)} = ${short(latency.ratio)}`,
      isReached: latency.ratio <= 1.5,
    },
    {
      what: `POST /execute no-op, calls/s, ${CLIENTS} clients`,
      toReach: 'at least 0.4 floor',
      measured: `${short(rates.ours)} / ${short(rates.floor)} = ${short(rates.ratio)}`,
      isReached: rates.ratio >= 0.4,
    },
  ];
}
