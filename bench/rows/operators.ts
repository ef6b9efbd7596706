/**
 * Costs of what operators switch on: a scrape of the figures, traces, and consoles that watch.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { httpClient } from '../clients.ts';
import { oneByOne, together } from '../load.ts';
import { type Row, short } from '../row.ts';
import { newHome, type RunningServer, startOurs } from '../servers.ts';
import { newBlock, newSession } from '../sessions.ts';
import { inTurn, medianMs } from '../statistics.ts';
import { NOOP } from './http.ts';
import { fill, SESSIONS } from './log.ts';

const CLIENTS = 64;
const CONSOLES = 50;
const CONSOLES_PROGRAM = fileURLToPath(new URL('../fixtures/consoles.mjs', import.meta.url));
const TRACING_SDK = new URL('../fixtures/tracing-sdk.mjs', import.meta.url).href;
/** Clock ticks a second of the figures in `/proc`. */
const TICKS = 100;

/** A scrape with many sessions on disk; calls with and without traces, and with and without viewers. */
export async function operatorRows(): Promise<readonly Row[]> {
  return [await scrapeRow(), ...(await tracingRows()), await consolesRow()];
}

async function scrapeRow(): Promise<Row> {
  const home = newHome();
  await fill(home);
  const server = await startOurs([], {}, home);
  const scrape = async () => (await fetch(`${server.url}/metrics`, { headers: server.headers })).text();
  // The first one loads what makes the figures of the process.
  await scrape();
  const tookMs = await medianMs(50, scrape, 5);
  await server.stop();
  return {
    what: `GET /metrics, ${SESSIONS} sessions on disk, ms`,
    toReach: 'at most 5 ms',
    measured: short(tookMs),
    isReached: tookMs <= 5,
  };
}

async function tracingRows(): Promise<readonly Row[]> {
  const plain = await startOurs();
  const traced = await startOurs(undefined, {}, undefined, { NODE_OPTIONS: `--import ${TRACING_SDK}` });
  try {
    const load = { clients: CLIENTS, forMs: 2_000 };
    const rates = await inTurn(7, await together(traced, NOOP, load), await together(plain, NOOP, load));
    const times = await inTurn(5, await processorMs(traced), await processorMs(plain));
    return [
      {
        what: `POST /execute no-op, calls/s, ${CLIENTS} clients, traced`,
        toReach: 'at least 0.95 of the same without traces',
        measured: `${short(rates.ours)} / ${short(rates.floor)} = ${short(rates.ratio)}`,
        isReached: rates.ratio >= 0.95,
      },
      {
        what: 'processor time of a traced no-op, ms',
        toReach: '',
        measured: `${short(times.ours)} / ${short(times.floor)} = ${short(times.ratio)}`,
        isReached: undefined,
      },
    ];
  } finally {
    await traced.stop();
    await plain.stop();
  }
}

/** Measures the server's processor time a call, which other work on the machine does not change as much. */
async function processorMs(server: RunningServer): Promise<() => Promise<number>> {
  const count = 2_000;
  const run = await oneByOne(server, NOOP, { count });
  return async () => {
    const before = ticksOf(server.pid);
    await run();
    return ((ticksOf(server.pid) - before) * 1_000) / TICKS / count;
  };
}

/** Ticks in user and system mode. @see proc(5) */
function ticksOf(pid: number): number {
  const [, text = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user = 0, system = 0] = text.split(' ').slice(11, 13).map(Number);
  return user + system;
}

async function consolesRow(): Promise<Row> {
  const server = await startOurs();
  const client = httpClient(server);
  const [watched, alone] = [await newSession(server), await newSession(server)];
  const consoles = await startConsoles(server, watched);
  const latency = (session_id: string) => () =>
    medianMs(
      300,
      () => client.send('POST', '/execute', { session_id, tool_uses: [newBlock(NOOP.name, NOOP.input)] }),
      2,
    );
  const pair = await inTurn(7, latency(watched), latency(alone));
  consoles.kill();
  client.close();
  await server.stop();
  return {
    what: `POST /execute no-op in a session that ${CONSOLES} consoles watch, latency p50 ms`,
    toReach: 'at most 1.1 of one that nobody watches',
    measured: `${short(pair.ours)} / ${short(pair.floor)} = ${short(pair.ratio)}`,
    isReached: pair.ratio <= 1.1,
  };
}

/** Open the viewers. @returns Once all are live. */
async function startConsoles(server: RunningServer, sessionId: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [CONSOLES_PROGRAM, server.url, sessionId, String(CONSOLES)], {
    env: { ...process.env, HEADERS: JSON.stringify(server.headers) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}
