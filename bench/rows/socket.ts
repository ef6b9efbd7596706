/**
 * The WebSocket door: calls that do nothing, a small file, and how soon a finished block begins to run.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Row, short } from '../row.ts';
import type { RunningServer } from '../servers.ts';
import { callingSocket, newBlock } from '../sessions.ts';
import { inTurn, median, medianMs, perSecond } from '../statistics.ts';

/** Connections of the row about many calls. */
export const SOCKET_CLIENTS = 16;
const FILE_BYTES = 10 * 1024;

/** Connect. @returns Measures no-op calls a second over several connections. */
export async function socketNoops(server: RunningServer, isOurs: boolean): Promise<() => Promise<number>> {
  const sockets = await Promise.all(Array.from({ length: SOCKET_CLIENTS }, () => callingSocket(server, isOurs)));
  return () => perSecond(SOCKET_CLIENTS, 2_000, (client) => sockets[client]?.call('Noop', {}) ?? Promise.resolve());
}

/** No-op calls a second over several connections. */
export async function socketNoopRow(ours: RunningServer, floor: RunningServer): Promise<Row> {
  const rates = await inTurn(3, await socketNoops(ours, true), await socketNoops(floor, false));
  return {
    what: `no-op over the WebSocket, calls/s, ${SOCKET_CLIENTS} connections`,
    toReach: 'at least 0.5 floor',
    measured: `${short(rates.ours)} / ${short(rates.floor)} = ${short(rates.ratio)}`,
    isReached: rates.ratio >= 0.5,
  };
}

/** Plant a file of 10 KB and connect. @returns Measures the median milliseconds of reading it over the WebSocket. */
export async function socketReads(server: RunningServer, isOurs: boolean): Promise<() => Promise<number>> {
  const file_path = plantFile(server);
  const socket = await callingSocket(server, isOurs);
  return () => medianMs(300, () => socket.call('Read', { file_path }));
}

/** Write a file of 10 KB. @returns Its absolute path. */
export function plantFile(server: RunningServer): string {
  const path = join(server.workspace, 'ten-kilobytes.txt');
  writeFileSync(path, 'a line of sixty-three characters and one line end, always so..\n'.repeat(FILE_BYTES / 64));
  return path;
}

/** Read of a 10 KB file over the WebSocket. */
export async function readRow(ours: RunningServer, floor: RunningServer): Promise<Row> {
  const times = await inTurn(5, await socketReads(ours, true), await socketReads(floor, false));
  return {
    what: 'Read 10 KB over the WebSocket, p50 ms',
    toReach: 'at most 1.5 floor',
    measured: `${short(times.ours)} / ${short(times.floor)} = ${short(times.ratio)}`,
    isReached: times.ratio <= 1.5,
  };
}

/** From the last byte of a streamed block to the frame that says it executes. */
export async function firstFrameRow(ours: RunningServer): Promise<Row> {
  const { socket } = await callingSocket(ours, true);
  const times: number[] = [];
  socket.send({ type: 'stream_event', event: { type: 'message_start' } });
  for (let index = 0; index < 200; index++) {
    const { id } = newBlock('Noop', {});
    const content_block = { type: 'tool_use', id, name: 'Noop', input: {} };
    socket.send({ type: 'stream_event', event: { type: 'content_block_start', index, content_block } });
    const executing = socket.next((frame) => frame['type'] === 'state' && frame['tool_use_id'] === id);
    const result = socket.next((frame) => frame['type'] === 'result' && frame['tool_use_id'] === id);
    const begunMs = performance.now();
    socket.send({ type: 'stream_event', event: { type: 'content_block_stop', index } });
    await executing;
    times.push(performance.now() - begunMs);
    await result;
  }
  socket.close();
  return {
    what: "block's last byte to `executing` frame, p50 ms",
    toReach: 'at most 2 ms',
    measured: short(median(times)),
    isReached: median(times) <= 2,
  };
}
