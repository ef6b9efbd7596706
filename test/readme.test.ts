/** The README keeps its word: each block marked as runnable runs, and prints what stands under it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from './helpers/temporary-folder.ts';

interface Block {
  readonly marker: string;
  readonly command: string;
  /** Lines the command prints, in order; `...` stands for any number of others. */
  readonly output: string;
}

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/<!-- (runs|starts) -->\n+```sh\n([^]*?)```\n+```text\n([^]*?)```/g)].map(
  ([, marker = '', command = '', output = '']): Block => ({ marker, command, output }),
);
const environment = { PATH: process.env['PATH'], HOME: temporaryFolder() };
let server: ChildProcess;
let address: string;

/** What differs from run to run becomes the same word on both sides. */
function steady(output: string): string[] {
  const words = output
    .replaceAll(address, '127.0.0.1:4747')
    .replaceAll(environment.HOME, '/home/you')
    .replaceAll(root, '/home/you/gauntlet')
    .replace(/"(session_id|turn_id)":"[^"]*"/g, '"$1":"…"')
    .replace(/"duration_ms":[\d.]+/g, '"duration_ms":0');
  // The width of a column follows its longest cell.
  return words.split('\n').map((line) => line.trimEnd().replace(/\s+/g, ' '));
}

function expectOutput(printed: string, { output }: Block): void {
  const pattern = steady(output.trimEnd()).map((line) => (line.trim() === '...' ? '[^]*' : escaped(line)));
  expect(steady(printed.trimEnd()).join('\n')).toMatch(
    new RegExp(`^${pattern.join('\n').replaceAll('\n[^]*', '[^]*')}$`),
  );
}

function escaped(line: string): string {
  return line.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

async function run(command: string): Promise<{ stdout: string; stderr: string; code: number | null }> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', command.replaceAll('127.0.0.1:4747', address)], {
    cwd: root,
    env: { ...environment, GAUNTLET_PORT: address.split(':')[1] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { stdout, stderr, code };
}

describe('the README', () => {
  const started: string[] = [];
  const [start, ...others] = blocks;

  beforeAll(async () => {
    server = spawn('bash', ['-c', `exec ${start?.command ?? ''}`], {
      cwd: root,
      env: { ...environment, GAUNTLET_PORT: '0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    if (!server.stdout) throw new Error('The server has no standard output');
    for await (const line of createInterface({ input: server.stdout })) {
      if (started.length > 0 || line.startsWith('Listening')) started.push(line);
      if (started.length === start?.output.trimEnd().split('\n').length) break;
    }
    address = /\/\/(.*)$/.exec(started[0] ?? '')?.[1] ?? '';
  });

  afterAll(async () => {
    const exited = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await exited;
  });

  it('has its first command and what it prints within 25 lines', () => {
    expect(start?.marker).toBe('starts');
    expect(readme.split('\n').slice(0, 25).join('\n')).toContain(start?.output.trimEnd());
  });

  it('starts the server and shows what that prints', () => {
    if (!start) throw new Error('The README has no block that starts the server');
    expectOutput(started.join('\n'), start);
  });

  it.each(others.map((block) => [block.command.split('\n').at(-2)?.slice(0, 60), block] as const))(
    'runs %s…',
    async (_title, block) => {
      const { stdout, stderr, code } = await run(block.command);
      expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
      expectOutput(stdout, block);
    },
  );
});
