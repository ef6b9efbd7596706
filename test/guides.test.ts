/**
 * The guides in `docs/` keep their word: one server starts with all their files and settings, and each command that is
 * marked as runnable prints what stands under it.
 */
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { parse, type ParseError } from 'jsonc-parser';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { setup } from '../bin/setup.mjs';
import { type LongRunning, longRunning } from './helpers/long-running.ts';
import { expectOutput, markedBlocks, titleOf } from './helpers/marked-blocks.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '..');
const home = temporaryFolder();
const project = join(home, 'project');
const dataFolder = join(home, '.local/state/gauntlet');
const guides = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => [name, markedBlocks(readFileSync(join(root, 'docs', name), 'utf8'))] as const);
const blocks = guides.flatMap(([, marked]) => marked);
const environment = {
  PATH: `${join(home, 'bin')}:${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
  HOME: home,
};
const CONNECT_MS = 15_000;
let server: LongRunning;
let address: string;

function writeFile(path: string, text: string, mode?: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

/** Settings of all guides in one: members of objects are joined, and lists are put one behind the other. */
function joined(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) return [...(one as unknown[]), ...(other as unknown[])];
  if (!isRecord(one) || !isRecord(other)) return other;
  const result = { ...one };
  for (const [key, value] of Object.entries(other)) result[key] = key in one ? joined(one[key], value) : value;
  return result;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readSettings(code: string): unknown {
  const errors: ParseError[] = [];
  const settings: unknown = parse(code, errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return settings;
}

function run(command: string) {
  return execa('bash', ['-euo', 'pipefail', '-c', command.replaceAll('127.0.0.1:4747', address)], {
    cwd: project,
    env: { ...environment, GAUNTLET_PORT: address.split(':')[1] },
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
  });
}

function steady(text: string): string {
  return text
    .replaceAll(address, '127.0.0.1:4747')
    .replaceAll(home, '/home/you')
    .replace(/"duration_ms":[\d.]+/g, '"duration_ms":0');
}

beforeAll(async () => {
  await setup({ forTests: true, programs: false });
  mkdirSync(project);
  writeFile(join(home, 'bin/gauntlet'), `#!/bin/sh\nexec node ${join(root, 'dist/gauntlet.js')} "$@"\n`, 0o755);
  for (const { marker, argument, code } of blocks) {
    if (marker === 'file') writeFile(argument.replace('~', home), code);
  }
  const settings = blocks.filter(({ marker }) => marker === 'settings').map(({ code }) => readSettings(code));
  writeFile(join(dataFolder, 'gauntlet.config.json'), JSON.stringify(settings.reduce(joined, {})));
  // Stands in for the `npm install` that the guides ask for.
  for (const folder of [dataFolder, join(home, 'agent')])
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

  server = await longRunning([join(home, 'bin/gauntlet'), 'serve'], /^Listening on .*\n/m, {
    cwd: project,
    env: { ...environment, GAUNTLET_PORT: '0' },
  });
  address = /Listening on http:\/\/(\S+)/.exec(server.printed)?.[1] ?? '';
  await vi.waitFor(async () => expect((await run('gauntlet tools')).stdout).toContain('mcp__'), {
    timeout: CONNECT_MS,
  });
});

afterAll(() => server.stop());

describe.each(guides.filter(([, marked]) => marked.length > 0))('the guide %s', (_name, marked) => {
  const commands = marked.filter(({ marker }) => marker === 'runs');

  it.each(commands.map((block) => [titleOf(block), block] as const))('runs %s…', async (_title, block) => {
    const { stdout, stderr, exitCode } = await run(block.code);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expectOutput(stdout, block, steady);
  });
});
