/**
 * Grep over many files against the same ripgrep, run by itself.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { httpClient } from '../clients.ts';
import { ripgrepPath } from '../../src/process/ripgrep.ts';
import { type Row, short } from '../row.ts';
import type { RunningServer } from '../servers.ts';
import { newBlock, newSession } from '../sessions.ts';
import { inTurn, medianMs } from '../statistics.ts';

const FILES = 30_000;
const FILES_A_FOLDER = 300;

/** All matches over 30,000 files. */
export async function grepRow(ours: RunningServer): Promise<Row> {
  const folder = join(ours.workspace, 'many');
  plant(folder);
  const client = httpClient(ours);
  const session_id = await newSession(ours);
  const input = { pattern: 'needle', path: folder, output_mode: 'content', head_limit: 0 };
  const grep = () =>
    medianMs(5, () => client.send('POST', '/execute', { session_id, tool_uses: [newBlock('Grep', input)] }));
  const times = await inTurn(3, grep, () => medianMs(5, () => plainRipgrep(folder)));
  return {
    what: `Grep over ${FILES} files, all matches, p50 ms`,
    toReach: 'at most 1.05 of the same rg',
    measured: `${short(times.ours)} / ${short(times.floor)} = ${short(times.ratio)}`,
    isReached: times.ratio <= 1.05,
  };
}

function plant(folder: string): void {
  for (let number = 0; number < FILES; number++) {
    const place = join(folder, String(Math.floor(number / FILES_A_FOLDER)));
    if (number % FILES_A_FOLDER === 0) mkdirSync(place, { recursive: true });
    const needle = number % 10 === 0 ? `a needle in file ${number}\n` : '';
    writeFileSync(join(place, `${number}.txt`), `${'some hay, and more of it\n'.repeat(40)}${needle}`);
  }
}

function plainRipgrep(folder: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const words = ['--no-config', '--hidden', '--line-number', '--no-heading', '-e', 'needle', '--', folder];
    const child = spawn(ripgrepPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length));
    child.on('error', reject);
    child.on('close', () => resolve(bytes));
  });
}
