/**
 * Bash: one command's latency, with a small and with a large server, and commands a second of many sessions.
 */
import { httpClient } from '../clients.ts';
import { oneByOne, together } from '../load.ts';
import { type Row, short } from '../row.ts';
import type { RunningServer } from '../servers.ts';
import { newBlock } from '../sessions.ts';
import { inTurn } from '../statistics.ts';

const SESSIONS = 64;
const HELD_MIB = 1_024;
const ECHO = { name: 'Bash', input: { command: 'echo hi' } };

/** `echo hi` against the floor's spawn, then again with a GiB in our server. */
export async function shellRows(ours: RunningServer, floor: RunningServer): Promise<readonly Row[]> {
  const load = { clients: SESSIONS, forMs: 3_000 };
  const small = await inTurn(5, await oneByOne(ours, ECHO, 60), await oneByOne(floor, ECHO, 60));
  const rates = await inTurn(3, await together(ours, ECHO, load), await together(floor, ECHO, load));
  const client = httpClient(ours);
  await client.send('POST', '/execute', { tool_uses: [newBlock('Hold', { mib: HELD_MIB })] });
  const large = await inTurn(5, await oneByOne(ours, ECHO, 60), await oneByOne(floor, ECHO, 60));
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
