/** Installs the official MCP conformance suite with a Node that it accepts, and runs one half of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;

/** Revisions whose required scenarios are run, each as it was frozen at its release. */
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
type Revision = (typeof REVISIONS)[number];

/** Scenarios that are expected to fail, each with the reason beside it. */
export const BASELINE = join(HERE, 'baseline.yml');

/** The suite's program, the Node that runs it, and the scenarios that each revision requires. */
const SUITE = join(HERE, 'node_modules/@modelcontextprotocol/conformance');
export const PROGRAM = join(SUITE, 'dist/index.js');
export const NODE = join(HERE, 'node_modules/.bin/node');
export const REQUIREMENTS = join(SUITE, 'requirements');

/** A half of the suite: what it tests. */
export type Half = 'server' | 'client';

/** Install the suite where it is missing or another version than the lock names. */
export async function installSuite(): Promise<void> {
  if (installedVersion() === lockedVersion()) return;
  const code = await run('npm', ['ci', '--no-audit', '--no-fund'], HERE);
  if (code !== 0) throw new Error(`The conformance suite could not be installed: npm ended with ${code}`);
}

/**
 * Run the required scenarios of each revision, and report each.
 *
 * @param words Options of the suite: `--url URL`, or `--command COMMAND`.
 * @param revisions Default: both.
 * @returns True if all passed, but for those that the baseline names.
 */
export async function runSuite(
  half: Half,
  words: readonly string[],
  revisions: readonly Revision[] = REVISIONS,
): Promise<boolean> {
  let hasPassed = true;
  for (const revision of revisions) {
    process.stdout.write(`\n=== ${half}, ${revision}\n`);
    const options = [...words, '--requirements', revision, '--expected-failures', BASELINE];
    const code = await run(NODE, [PROGRAM, half, ...options], process.cwd());
    hasPassed &&= code === 0;
  }
  return hasPassed;
}

function installedVersion(): string | undefined {
  const lock = join(HERE, 'node_modules/.package-lock.json');
  return existsSync(lock) && existsSync(NODE) ? suiteVersion(lock) : undefined;
}

function lockedVersion(): string | undefined {
  return suiteVersion(join(HERE, 'package-lock.json'));
}

function suiteVersion(lock: string): string | undefined {
  const { packages } = JSON.parse(readFileSync(lock, 'utf8')) as { packages: Record<string, { version?: string }> };
  return packages['node_modules/@modelcontextprotocol/conformance']?.version;
}

async function run(file: string, words: readonly string[], cwd: string): Promise<number | null> {
  const child = spawn(file, words, { cwd, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}
