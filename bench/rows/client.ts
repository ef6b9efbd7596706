/**
 * The client package beside plain `fetch` of the same request.
 */
import { connect } from '../../client/src/index.ts';
import { type Row, short } from '../row.ts';
import type { RunningServer } from '../servers.ts';
import { newBlock, newSession } from '../sessions.ts';
import { inTurn, medianMs } from '../statistics.ts';
import { NOOP } from './http.ts';

/** Calls of each side, in turn, so that both share a load that comes and goes. */
const CALLS = 1_500;

/** `client.execute` of a no-op. */
export async function clientRow(ours: RunningServer): Promise<Row> {
  const token = String(ours.headers['authorization']).replace(/^Bearer /, '');
  const client = await connect({ url: ours.url, token });
  const session_id = await newSession(ours);
  const headers = { ...ours.headers, 'content-type': 'application/json' };
  const {
    ours: own,
    floor,
    ratio,
  } = await inTurn(
    CALLS,
    () => medianMs(1, () => client.execute({ tool_uses: [newBlock(NOOP.name, NOOP.input)] })),
    () =>
      medianMs(1, async () => {
        const body = JSON.stringify({ session_id, tool_uses: [newBlock(NOOP.name, NOOP.input)] });
        const response = await fetch(`${ours.url}/execute`, { method: 'POST', headers, body });
        await response.json();
      }),
  );
  client.close();
  return {
    what: '`client.execute` of a no-op, of plain `fetch` of the same, latency p50 ms',
    toReach: 'at most 1.1',
    measured: `${short(own)} / ${short(floor)} = ${short(ratio)}`,
    isReached: ratio <= 1.1,
  };
}
