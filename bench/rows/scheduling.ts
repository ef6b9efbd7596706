/**
 * How calls overlap: in one batch, in many sessions, and while their message still streams in.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { httpClient } from '../clients.ts';
import { type Row, short } from '../row.ts';
import type { RunningServer } from '../servers.ts';
import { callingSocket, newBlock, newSession } from '../sessions.ts';
import { medianMs } from '../statistics.ts';

const SECOND_CALL = { duration_ms: 1_000 };
const BLOCK_GAP_MS = 400;
const BLOCKS = 5;

/** Ten one-second calls in one batch, and one in each of 64 sessions. */
export async function overlapRows(ours: RunningServer): Promise<readonly Row[]> {
  const client = httpClient(ours);
  const batch = () => Array.from({ length: 10 }, () => newBlock('Sleep', SECOND_CALL));
  const oneBatchMs = await medianMs(3, () => client.send('POST', '/execute', { tool_uses: batch() }));
  const clients = Array.from({ length: 64 }, () => httpClient(ours));
  const sessions = await Promise.all(clients.map(() => newSession(ours)));
  const manyMs = await medianMs(3, () =>
    Promise.all(
      clients.map((each, index) =>
        each.send('POST', '/execute', { session_id: sessions[index], tool_uses: [newBlock('Sleep', SECOND_CALL)] }),
      ),
    ),
  );
  return [
    bounded('ten 1-second calls in one batch, s', oneBatchMs / 1_000, 1.05),
    bounded('64 sessions with one 1-second call each, s', manyMs / 1_000, 1.15),
  ];
}

/** Five one-second calls whose blocks close 0.4 s apart. */
export async function streamingRow(ours: RunningServer): Promise<Row> {
  const { socket } = await callingSocket(ours, true);
  const criticalMs = BLOCKS * BLOCK_GAP_MS + SECOND_CALL.duration_ms;
  const tookMs = await medianMs(2, async () => {
    const ended = socket.next((frame) => frame['type'] === 'turn_end');
    const event = (value: object) => socket.send({ type: 'stream_event', event: value });
    event({ type: 'message_start' });
    for (let index = 0; index < BLOCKS; index++) {
      const { id } = newBlock('Sleep', SECOND_CALL);
      event({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name: 'Sleep', input: {} } });
      await pause(BLOCK_GAP_MS);
      const partial_json = JSON.stringify(SECOND_CALL);
      event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } });
      event({ type: 'content_block_stop', index });
    }
    event({ type: 'message_stop' });
    await ended;
  });
  socket.close();
  return bounded('five 1-second calls streamed in 0.4 s apart, of the critical path', tookMs / criticalMs, 1.03);
}

function bounded(what: string, value: number, most: number): Row {
  return { what, toReach: `at most ${most}`, measured: short(value), isReached: value <= most };
}
