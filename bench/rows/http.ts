/**
 * The HTTP doors: the tool list as bytes, and a call that does nothing.
 */
import autocannon from 'autocannon';
import { httpClient } from '../clients.ts';
import { type Row, short } from '../row.ts';
import type { RunningServer } from '../servers.ts';
import { newBlock, newSession } from '../sessions.ts';
import { inTurn, medianMs, perSecond } from '../statistics.ts';

const CLIENTS = 64;

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
  const latency = await inTurn(5, await oneByOne(ours), await oneByOne(floor));
  const rates = await inTurn(3, await together(ours), await together(floor));
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

/** A batch of one no-op; the id is new each time, or the server would rightly answer from its log. */
function noopBatch(sessionId: string | undefined): object {
  const tool_uses = [newBlock('Noop', {})];
  return sessionId === undefined ? { tool_uses } : { session_id: sessionId, tool_uses };
}

async function oneByOne(server: RunningServer): Promise<() => Promise<number>> {
  const client = httpClient(server);
  const sessionId = await sessionOf(server);
  return () => medianMs(500, () => client.send('POST', '/execute', noopBatch(sessionId)));
}

async function together(server: RunningServer): Promise<() => Promise<number>> {
  const clients = Array.from({ length: CLIENTS }, () => httpClient(server));
  const sessions = await Promise.all(clients.map(() => sessionOf(server)));
  return () =>
    perSecond(
      CLIENTS,
      2_000,
      (client) => clients[client]?.send('POST', '/execute', noopBatch(sessions[client])) ?? Promise.resolve(),
    );
}

/** A session of ours; the floor, which wants no credential, knows none. */
async function sessionOf(server: RunningServer): Promise<string | undefined> {
  return 'authorization' in server.headers ? newSession(server) : undefined;
}
