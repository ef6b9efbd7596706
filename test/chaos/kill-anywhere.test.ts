/** F01: two hundred `kill -9`s at moments nobody chose: whatever ran, the log is in order and nothing ran twice. */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { block, wireClient } from '../helpers/wire-client.ts';

const KILLS = 200;
const LONGEST_MS = 250;

/** Each command leaves one line a run, so that a second run shows. */
const calls = (kill: number) => [
  block('Bash', { command: `echo ${kill}a >>runs` }, `k${kill}_a`),
  block('Glob', { pattern: '*' }, `k${kill}_b`),
  block('Sleep', { duration_ms: 40 }, `k${kill}_c`),
  block('Bash', { command: `echo ${kill}d >>runs; sleep 0.1; echo ${kill}D >>runs` }, `k${kill}_d`),
  block('Bash', { command: `echo ${kill}e >>runs` }, `k${kill}_e`),
];

/** Send a batch, and kill the server while it runs. @returns The next server over the same home. */
async function killDuring(server: BuiltServer, sessionId: string, kill: number): Promise<BuiltServer> {
  const answered = wireClient(server)
    .execute(sessionId, calls(kill))
    .catch(() => undefined);
  await pause(randomInt(LONGEST_MS));
  await server.end('SIGKILL');
  await answered;
  return startServer({ home: server.home });
}

it(
  'a server killed at any moment comes back with one result a call, in order, and runs nothing twice',
  async () => {
    let server = await startServer();
    const sessionId = await wireClient(server).session({ mode: 'bypassPermissions' });
    for (let kill = 0; kill < KILLS; kill++) server = await killDuring(server, sessionId, kill);

    const frames = await wireClient(server).frames(sessionId);
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_frame, index) => index + 1));
    const accepted = frames.flatMap(({ type, tool_use }) =>
      type === 'tool_use' ? [(tool_use as { id: string }).id] : [],
    );
    const yielded = frames.flatMap(({ type, tool_use_id }) => (type === 'result' ? [tool_use_id] : []));
    expect(yielded).toEqual(accepted);
    const runs = readFileSync(join(server.workspace, 'runs'), 'utf8').trim().split('\n');
    expect(new Set(runs).size).toBe(runs.length);
    await server.end();
  },
  20 * 60_000,
);
