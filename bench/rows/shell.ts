/**
 * Bash: one command's latency, with a small and with a large server, and commands a second of many sessions.
 */
import { httpClient } from '../clients.ts';
import { type Row, short } from '../row.ts';
import type { RunningServer } from '../servers.ts';
import { newBlock, newSession } from '../sessions.ts';
import { inTurn, medianMs, perSecond } from '../statistics.ts';

const SESSIONS = 64;
const HELD_MIB = 1_024;

/** `echo hi` against the floor's spawn, then again with a GiB in our server. */
export async function shellRows(ours: RunningServer, floor: RunningServer): Promise<readonly Row[]> {
  const small = await inTurn(5, await echo(ours), await echo(floor));
  const rates = await inTurn(3, await echoes(ours), await echoes(floor));
  const client = httpClient(ours);
  await client.send('POST', '/execute', { tool_uses: [newBlock('Hold', { mib: HELD_MIB })] });
  const large = await inTurn(5, await echo(ours), await echo(floor));
  const row = (what: string, pair: typeof small): Row => ({
    what,
    toReach: 'at most 1.2 floor',
    measured: `${short(pair.ours)} / ${short(pair.floor)} = ${short(pair.ratio)}`,
    isReached: pair.ratio <= 1.2,
  });
  return [
    row('Bash `echo hi`, p50 ms', small),
    row('the same with 1 GiB held by our server', large),
    {
      what: `Bash \`echo hi\`, calls/s, ${SESSIONS} sessions`,
      toReach: 'at least 1.0 floor',
      measured: `${short(rates.ours)} / ${short(rates.floor)} = ${short(rates.ratio)}`,
      isReached: rates.ratio >= 1,
    },
  ];
}

async function echo(server: RunningServer): Promise<() => Promise<number>> {
  const client = httpClient(server);
  const session_id = await sessionOf(server);
  return () => medianMs(60, () => client.send('POST', '/execute', echoBatch(session_id)));
}

async function echoes(server: RunningServer): Promise<() => Promise<number>> {
  const clients = Array.from({ length: SESSIONS }, () => httpClient(server));
  const sessions = await Promise.all(clients.map(() => sessionOf(server)));
  return () =>
    perSecond(
      SESSIONS,
      3_000,
      (client) => clients[client]?.send('POST', '/execute', echoBatch(sessions[client])) ?? Promise.resolve(),
    );
}

function echoBatch(sessionId: string | undefined): object {
  const tool_uses = [newBlock('Bash', { command: 'echo hi' })];
  return sessionId === undefined ? { tool_uses } : { session_id: sessionId, tool_uses };
}

async function sessionOf(server: RunningServer): Promise<string | undefined> {
  return 'authorization' in server.headers ? newSession(server) : undefined;
}
