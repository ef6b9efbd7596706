/**
 * Bash: one command's latency, with a small and with a large server, and commands a second of many sessions.
 */
import { httpClient } from '../clients.ts';
import { oneByOne, together } from '../load.ts';
import { type Row, short } from '../row.ts';
import { type RunningServer, startOurs } from '../servers.ts';
import { newBlock } from '../sessions.ts';
import { inTurn } from '../statistics.ts';

const SESSIONS = 64;
const HELD_MIB = 1_024;
/** A model takes longer than this between two calls. */
const PAUSE_MS = 20;
const ECHO = { name: 'Bash', input: { command: 'echo hi' } };

/** `echo hi` against the floor's spawn, then again with a GiB in our server. */
export async function shellRows(ours: RunningServer, floor: RunningServer): Promise<readonly Row[]> {
  const load = { clients: SESSIONS, forMs: 3_000 };
  const oneAfterAnother = async (each: { count: number; pauseMs?: number }) =>
    inTurn(5, await oneByOne(ours, ECHO, each), await oneByOne(floor, ECHO, each));
  const apart = { count: 40, pauseMs: PAUSE_MS };
  const small = await oneAfterAnother(apart);
  const hurried = await oneAfterAnother({ count: 60 });
  const rates = await inTurn(3, await together(ours, ECHO, load), await together(floor, ECHO, load));
  const client = httpClient(ours);
  await client.send('POST', '/execute', { tool_uses: [newBlock('Hold', { mib: HELD_MIB })] });
  const large = await oneAfterAnother(apart);
  const row = (what: string, pair: typeof small): Row => ({
    what,
    toReach: 'at most 1.2 floor',
    measured: `${short(pair.ours)} / ${short(pair.floor)} = ${short(pair.ratio)}`,
    isReached: pair.ratio <= 1.2,
  });
  return [
    row(`Bash \`echo hi\`, calls ${PAUSE_MS} ms apart, p50 ms`, small),
    row('the same with 1 GiB held by our server', large),
    row('Bash `echo hi`, one right after another, p50 ms', hurried),
    {
      what: `Bash \`echo hi\`, calls/s, ${SESSIONS} sessions`,
      toReach: 'at least 1.0 floor',
      measured: `${short(rates.ours)} / ${short(rates.floor)} = ${short(rates.ratio)}`,
      isReached: rates.ratio >= 1,
    },
  ];
}

/** `echo hi` in the sandbox against the same without, both ours, with the pauses of a model and without. */
export async function sandboxRow(ours: RunningServer): Promise<readonly Row[]> {
  const sandboxed = await startOurs([], { sandbox: { mode: 'required' } });
  try {
    const against = async (each: { count: number; pauseMs?: number }) =>
      inTurn(5, await oneByOne(sandboxed, ECHO, each), await oneByOne(ours, ECHO, each));
    const row = (what: string, pair: Awaited<ReturnType<typeof against>>): Row => ({
      what,
      toReach: 'at most 3 times without',
      measured: `${short(pair.ours)} / ${short(pair.floor)} = ${short(pair.ratio)}`,
      isReached: pair.ratio <= 3,
    });
    return [
      row('sandboxed `echo hi`, p50 ms', await against({ count: 40, pauseMs: PAUSE_MS })),
      row('the same without a pause between calls', await against({ count: 40 })),
    ];
  } finally {
    await sandboxed.stop();
  }
}
