/**
 * What a server costs before it does anything: its start, its memory, and a session that idles.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { httpClient } from '../clients.ts';
import { type Row, short } from '../row.ts';
import { type RunningServer, startFloor, startOurs } from '../servers.ts';
import { newBlock } from '../sessions.ts';
import { inTurn } from '../statistics.ts';

/** As many as stay awake: the first thousand also make the young part of the heap grow, once. */
const SESSIONS = 2_000;

/** Start to first answered call, memory after it, and memory a session adds. */
export async function footprintRows(): Promise<readonly Row[]> {
  const start = await inTurn(
    5,
    () => startToAnswer(startBare),
    () => startToAnswer(() => startFloor()),
  );
  const ours = await startBare();
  await firstCall(ours);
  const idleMiB = ours.residentMiB();
  const client = httpClient(ours);
  for (let each = 0; each < SESSIONS; each++) await client.send('POST', '/sessions', {});
  const sessionKiB = ((ours.residentMiB() - idleMiB) * 1_024) / SESSIONS;
  await ours.stop();
  return [
    {
      what: 'start to first answered call, ms',
      toReach: 'at most 1.5 floor',
      measured: `${short(start.ours)} / ${short(start.floor)} = ${short(start.ratio)}`,
      isReached: start.ratio <= 1.5,
    },
    {
      what: 'memory after the first call, MiB',
      toReach: 'at most 100',
      measured: short(idleMiB),
      isReached: idleMiB <= 100,
    },
    {
      what: 'memory an idle session, KiB',
      toReach: 'at most 24',
      measured: short(sessionKiB),
      isReached: sessionKiB <= 24,
    },
  ];
}

async function startToAnswer(start: () => Promise<RunningServer>): Promise<number> {
  const begunMs = performance.now();
  const server = await start();
  await firstCall(server);
  const tookMs = performance.now() - begunMs;
  await server.stop();
  return tookMs;
}

/** As most people run it: no plugin, which would bring a schema library of its own. */
function startBare(): Promise<RunningServer> {
  return startOurs([]);
}

async function firstCall(server: RunningServer): Promise<void> {
  const file_path = join(server.workspace, 'first.txt');
  writeFileSync(file_path, 'a first file\n');
  const client = httpClient(server);
  await client.send('POST', '/execute', { tool_uses: [newBlock('Read', { file_path })] });
  client.close();
}
