/**
 * The console in a browser: its size, its first paint, how late a frame is painted, and what a long session costs.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findProgram } from '../../bin/setup.mjs';
import { httpClient } from '../clients.ts';
import { type Row, short } from '../row.ts';
import { type RunningServer, startOurs } from '../servers.ts';
import { newBlock, newSession } from '../sessions.ts';
import { median } from '../statistics.ts';

const PAGE = fileURLToPath(new URL('../../dist/console/', import.meta.url));
const PAINT_DELAYS = readFileSync(new URL('../fixtures/paint-delays.js', import.meta.url), 'utf8');
const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'];

const CALLS = 10_000;
const CALLS_A_BATCH = 250;
const FRAMES = 1_000;
const EVERY_MS = 5;
const ROUNDS = 5;

/** Measured where there is a Chromium; its download is measured everywhere. */
export async function consoleRows(): Promise<readonly Row[]> {
  const executablePath = findProgram('chromium');
  if (executablePath === undefined) {
    process.stderr.write('skipped the rows of a browser: there is no chromium\n');
    return [bundleRow()];
  }
  const server = await startOurs();
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  try {
    return [
      bundleRow(),
      await firstPaintRow(browser, server),
      await frameRow(browser, server),
      ...(await longSessionRows(browser, server)),
    ];
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** Everything that the page loads before it is usable. */
function bundleRow(): Row {
  const files = readdirSync(PAGE, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.map(({ parentPath, name }) => gzipSync(readFileSync(join(parentPath, name))).length);
  const kb = bytes.reduce((sum, each) => sum + each, 0) / 1_000;
  return {
    what: 'all files of the console, gzipped, KB',
    toReach: 'at most 200',
    measured: short(kb),
    isReached: kb <= 200,
  };
}

async function firstPaintRow(browser: Browser, server: RunningServer): Promise<Row> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const page = await openConsole(browser, server);
    const paints = `performance.getEntriesByName('first-contentful-paint')[0].startTime`;
    times.push(Number(await page.evaluate(paints)));
    await page.context().close();
  }
  const paintMs = median(times);
  return {
    what: 'first paint of the console, nothing cached, ms',
    toReach: 'at most 1 s',
    measured: short(paintMs),
    isReached: paintMs <= 1_000,
  };
}

/** From the moment a tool tells something to the moment it can be seen. */
async function frameRow(browser: Browser, server: RunningServer): Promise<Row> {
  const sessionId = await newSession(server);
  const page = await openConsole(browser, server);
  await openSession(page, server, sessionId);
  await page.evaluate(PAINT_DELAYS);
  const client = httpClient(server);
  const tool_uses = [newBlock('Tell', { count: FRAMES, every_ms: EVERY_MS })];
  await client.send('POST', '/execute', { session_id: sessionId, tool_uses });
  client.close();
  const delaysMs = (await page.evaluate('paintDelaysMs')) as readonly number[];
  await page.context().close();
  const sorted = delaysMs.toSorted((one, other) => one - other);
  const p95Ms = sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
  return {
    what: `frame to pixel at ${1_000 / EVERY_MS} frames/s, p95 ms`,
    toReach: 'at most 100 ms',
    measured: `${short(p95Ms)} (p50 ${short(median(sorted))}) over ${sorted.length} frames`,
    isReached: p95Ms <= 100 && sorted.length > 0,
  };
}

/** Time until the end of a session of many calls can be read, and memory that its tab then holds. */
async function longSessionRows(browser: Browser, server: RunningServer): Promise<readonly Row[]> {
  const sessionId = await longSession(server);
  const page = await openConsole(browser, server);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await page.goto('about:blank');
    const begunMs = performance.now();
    await openSession(page, server, sessionId);
    await page.getByText(lastPathOf(CALLS)).first().waitFor();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    times.push(performance.now() - begunMs);
  }
  const { heapMiB, privateMiB } = await memoryOf(browser, page);
  await page.context().close();
  const openMs = median(times);
  return [
    {
      what: `a session of ${CALLS} calls opens, ms, with the page`,
      toReach: 'at most 1.5 s',
      measured: short(openMs),
      isReached: openMs <= 1_500,
    },
    {
      what: `its tab, private memory of the process, MiB`,
      toReach: 'at most 150',
      measured: `${short(privateMiB)}, ${short(heapMiB)} of them scripts`,
      isReached: privateMiB <= 150,
    },
  ];
}

/** A session whose last call names a path that no other has. */
async function longSession(server: RunningServer): Promise<string> {
  const sessionId = await newSession(server);
  const client = httpClient(server);
  const text = Array.from({ length: 20 }, (_, line) => `export const value${line} = ${line};\n`).join('');
  for (let each = 1; each <= CALLS / CALLS_A_BATCH; each++) {
    const count = each * CALLS_A_BATCH;
    await writeFile(join(server.workspace, lastPathOf(count)), text);
    const names = [...Array<string>(CALLS_A_BATCH - 1).fill(lastPathOf(CALLS_A_BATCH)), lastPathOf(count)];
    const tool_uses = names.map((file_path) => newBlock('Read', { file_path }));
    await client.send('POST', '/execute', { session_id: sessionId, tool_uses });
  }
  client.close();
  return sessionId;
}

function lastPathOf(count: number): string {
  return `source-${count}.ts`;
}

/** Open the console, signed in, in a context of its own, which caches nothing from others. */
async function openConsole(browser: Browser, server: RunningServer): Promise<Page> {
  const client = httpClient(server);
  const { ticket } = await client.send('POST', '/console/tickets', {});
  client.close();
  const context = await browser.newContext({ viewport: { width: 1_400, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${server.url}/#ticket=${String(ticket)}`);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  return page;
}

/** Show a session, and wait until all of it is there. */
async function openSession(page: Page, server: RunningServer, sessionId: string): Promise<void> {
  await page.goto(`${server.url}/#/sessions/${sessionId}`);
  await page.locator('.connection.live').waitFor();
}

/** Memory of a page after a collection of garbage: of its scripts, and what its process shares with no other. */
async function memoryOf(browser: Browser, page: Page): Promise<{ heapMiB: number; privateMiB: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const whole = await browser.newBrowserCDPSession();
  const { processInfo } = await whole.send('SystemInfo.getProcessInfo');
  const renderers = processInfo.filter(({ type }) => type === 'renderer');
  // The largest is the page's: another one may be kept in reserve.
  const privateMiB = Math.max(...renderers.map(({ id }) => anonymousKiB(id) / 1_024));
  return { heapMiB: usedSize / 1_024 / 1_024, privateMiB };
}

function anonymousKiB(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
