/** The README keeps its word: each block marked as runnable runs, and prints what stands under it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LongRunning, longRunning } from './helpers/long-running.ts';
import { expectOutput, markedBlocks, titleOf } from './helpers/marked-blocks.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const environment = { PATH: process.env['PATH'], HOME: temporaryFolder() };
let server: LongRunning;
let address: string;

/** What differs from run to run becomes the same word on both sides. */
function steady(output: string): string {
  return output
    .replaceAll(address, '127.0.0.1:4747')
    .replaceAll(environment.HOME, '/home/you')
    .replaceAll(root, '/home/you/gauntlet')
    .replace(/"(session_id|turn_id)":"[^"]*"/g, '"$1":"…"')
    .replace(/#ticket=[\w-]{43}/g, '#ticket=…')
    .replace(/"duration_ms":[\d.]+/g, '"duration_ms":0');
}

function run(command: string) {
  return execa('bash', ['-euo', 'pipefail', '-c', command.replaceAll('127.0.0.1:4747', address)], {
    cwd: root,
    env: { ...environment, GAUNTLET_PORT: address.split(':')[1] },
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
  });
}

describe('the README', () => {
  const [start, ...others] = markedBlocks(readme);
  let started: string;

  beforeAll(async () => {
    const lines = start?.output.trimEnd().split('\n').length ?? 1;
    server = await longRunning(
      ['bash', '-c', `exec ${start?.code ?? ''}`],
      new RegExp(`^Listening.*\n(.*\n){${lines - 1}}`, 'm'),
      { cwd: root, env: { ...environment, GAUNTLET_PORT: '0' } },
    );
    started = server.printed.slice(server.printed.indexOf('Listening'));
    address = /\/\/(.*)$/m.exec(started)?.[1] ?? '';
  });

  afterAll(() => server.stop());

  it('has its first command and what it prints within 25 lines', () => {
    expect(start?.marker).toBe('starts');
    expect(readme.split('\n').slice(0, 25).join('\n')).toContain(start?.output.trimEnd());
  });

  it('starts the server and shows what that prints', () => {
    if (!start) throw new Error('The README has no block that starts the server');
    expectOutput(started, start, steady);
  });

  it.each(others.map((block) => [titleOf(block), block] as const))('runs %s…', async (_title, block) => {
    const { stdout, stderr, exitCode } = await run(block.code);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expectOutput(stdout, block, steady);
  });
});
