/**
 * Many viewers: how late frames reach them, what each costs, and what one costs that does not read.
 */
import { setTimeout as pause } from 'node:timers/promises';
import WebSocket from 'ws';
import { httpClient } from '../clients.ts';
import { type Row, short } from '../row.ts';
import { type RunningServer, startOurs } from '../servers.ts';
import { callingSocket, newBlock, newSession } from '../sessions.ts';

const VIEWERS = 1_000;
const SESSIONS = 100;
const ROUNDS = 20;
const STALLED = 100;
/** Each comes to some 5 KB of frames, so that together they are more than the kernel holds for a socket, or the log in memory. */
const UNREAD_CALLS = 1_500;
const NOTE = 'x'.repeat(4_000);

/** When a log frame was appended. */
const TIME = /"ts":"([^"]+)"/;

/** A thousand WebSocket viewers of a hundred sessions. */
export async function viewerRows(): Promise<readonly Row[]> {
  const server = await startOurs(undefined, { limits: { connections: 2 * VIEWERS } });
  try {
    return [...(await watchedRows(server)), await stalledRow(server)];
  } finally {
    await server.stop();
  }
}

async function watchedRows(server: RunningServer): Promise<readonly Row[]> {
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => newSession(server)));
  const client = httpClient(server);
  for (const session_id of sessions) await client.send('POST', '/execute', noop(session_id));
  const beforeMiB = server.residentMiB();
  const delaysMs: number[] = [];
  const viewers = [];
  for (let each = 0; each < VIEWERS; each++) {
    const onFrame = (text: string) => delaysMs.push(Date.now() - Date.parse(TIME.exec(text)?.[1] ?? ''));
    viewers.push(await viewer(server, sessions[each % SESSIONS] ?? '', onFrame));
  }
  const heldKiB = ((server.residentMiB() - beforeMiB) * 1_024) / VIEWERS;
  for (let round = 0; round < ROUNDS; round++) {
    for (const session_id of sessions) {
      await client.send('POST', '/execute', noop(session_id));
      await pause(5);
    }
  }
  await pause(200);
  client.close();
  for (const socket of viewers) socket.terminate();
  const p99Ms = delaysMs.toSorted((one, other) => one - other)[Math.floor(delaysMs.length * 0.99)] ?? Number.NaN;
  return [
    {
      what: `frame to each of ${VIEWERS} viewers of ${SESSIONS} sessions, p99 ms`,
      toReach: 'at most 50 ms',
      measured: `${short(p99Ms)} over ${delaysMs.length} frames`,
      isReached: p99Ms <= 50,
    },
    {
      what: 'memory a viewer, KiB',
      toReach: 'at most 100',
      measured: short(heldKiB),
      isReached: heldKiB <= 100,
    },
  ];
}

/** What a viewer adds that stopped reading while its session went on. */
async function stalledRow(server: RunningServer): Promise<Row> {
  const feeder = await callingSocket(server, true);
  const grow = async () => {
    // Its schema refuses the note; the frames are what counts.
    for (let each = 0; each < UNREAD_CALLS; each++) await feeder.call('Noop', { note: NOTE });
    return server.residentMiB();
  };
  await grow();
  const viewers: WebSocket[] = [];
  for (let each = 0; each < STALLED; each++) viewers.push(await viewer(server, feeder.sessionId, () => undefined));
  // What the same work leaves behind while all of them read does not count.
  const readMiB = await grow();
  for (const socket of viewers) socket.pause();
  const addedKiB = (((await grow()) - readMiB) * 1_024) / STALLED;
  for (const socket of viewers) socket.terminate();
  feeder.socket.close();
  return {
    what: 'memory a stalled viewer adds, KiB',
    toReach: 'at most 100',
    measured: short(addedKiB),
    isReached: addedKiB <= 100,
  };
}

/** A WebSocket that is live. */
async function viewer(server: RunningServer, sessionId: string, onFrame: (text: string) => void) {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/sessions/${sessionId}/stream`, ['gauntlet.v1'], {
    headers: server.headers,
    perMessageDeflate: false,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => socket.send('{"type":"hello"}')).once('error', reject);
    socket.on('message', (data) => {
      const text = (data as Buffer).toString();
      if (text.startsWith('{"seq"')) onFrame(text);
      else if (text.startsWith('{"type":"live"')) resolve();
    });
  });
  return socket;
}

function noop(session_id: string): object {
  return { session_id, tool_uses: [newBlock('Noop', {})] };
}
