/**
 * `npm run bench [WORD ...]`: one table, every ratio measured within this run. Words choose rows by group.
 */
import { startFloor, startOurs } from './servers.ts';
import { type Row, table } from './row.ts';
import { agentRows, innerCallRow } from './rows/agents.ts';
import { clientRow } from './rows/client.ts';
import { consoleRows } from './rows/console.ts';
import { footprintRows } from './rows/footprint.ts';
import { gateRows } from './rows/gate.ts';
import { noopRows, toolListRow } from './rows/http.ts';
import { firstCommandRows, inTurnRows } from './rows/in-turn.ts';
import { keptRows } from './rows/kept.ts';
import { appendRow, restartRow } from './rows/log.ts';
import { mcpRows, mcpStartRows } from './rows/mcp.ts';
import { overlapRows, streamingRow } from './rows/scheduling.ts';
import { operatorRows } from './rows/operators.ts';
import { grepRow } from './rows/search.ts';
import { jailRows } from './rows/jail.ts';
import { sandboxRow, shellRows } from './rows/shell.ts';
import { firstFrameRow, readRow, socketNoopRow } from './rows/socket.ts';
import { viewerRows } from './rows/viewers.ts';

const ours = await startOurs();
const floor = await startFloor();

/** In an order that leaves the large server for last. */
const groups: Readonly<Record<string, () => Promise<Row | readonly Row[]>>> = {
  tools: () => toolListRow(ours, floor),
  execute: () => noopRows(ours, floor),
  client: () => clientRow(ours),
  mcp: async () => [...(await mcpRows()), ...(await mcpStartRows())],
  socket: () => socketNoopRow(ours, floor),
  kept: () => keptRows(ours, floor),
  read: () => readRow(ours, floor),
  turn: () => inTurnRows(ours, floor),
  first: () => firstCommandRows(),
  frame: () => firstFrameRow(ours),
  grep: () => grepRow(ours),
  overlap: () => overlapRows(ours),
  stream: () => streamingRow(ours),
  agents: () => agentRows(),
  inner: () => innerCallRow(ours),
  gate: () => gateRows(),
  jail: () => jailRows(),
  sandbox: () => sandboxRow(ours),
  log: async () => [await appendRow(), await restartRow()],
  viewers: () => viewerRows(),
  operators: () => operatorRows(),
  console: () => consoleRows(),
  footprint: () => footprintRows(),
  shell: () => shellRows(ours, floor),
};

const chosen = process.argv.slice(2);
const rows: Row[] = [];
try {
  for (const [name, measure] of Object.entries(groups)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    process.stderr.write(`measuring ${name}\n`);
    rows.push(...[await measure()].flat());
  }
} finally {
  await ours.stop();
  await floor.stop();
}
process.stdout.write(`${table(rows)}\n`);
process.exit(0);
