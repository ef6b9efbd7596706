/**
 * Runs the client half of the suite, one scenario after the other: the suite itself would start all at once, and the
 * clients would run out of time.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { execa } from 'execa';
import { parse } from 'yaml';
import { BASELINE, NODE, PROGRAM, REQUIREMENTS, REVISIONS } from './suite.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Time for one scenario; the longest takes some seconds. */
const TIMEOUT_MS = 60_000;

/** Run the required scenarios of each revision. @returns True if all passed, but for those that the baseline names. */
export async function runClientHalf(): Promise<boolean> {
  // Below the root, so that the parts which are not bundled are found.
  const folder = mkdtempSync(join(ROOT, 'node_modules/.conformance-'));
  try {
    const command = `${process.execPath} ${await bundled(folder)}`;
    const failed: string[] = [];
    for (const revision of REVISIONS) {
      process.stdout.write(`\n=== client, ${revision}\n`);
      for (const scenario of requiredScenarios(revision)) {
        if (!(await hasPassed(scenario, revision, command))) failed.push(`${scenario} (${revision})`);
      }
    }
    process.stdout.write(failed.length === 0 ? '\nAll passed\n' : `\nFailed: ${failed.join(', ')}\n`);
    return failed.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Bundled, a client starts in a fifth of the time. */
async function bundled(folder: string): Promise<string> {
  const outfile = join(folder, 'client.mjs');
  const entryPoints = ['test/conformance/client.ts'];
  const format = { bundle: true, format: 'esm', platform: 'node', packages: 'external' } as const;
  await build({ absWorkingDir: ROOT, entryPoints, outfile, ...format, logLevel: 'warning' });
  return outfile;
}

function requiredScenarios(revision: string): readonly string[] {
  const { client } = parse(readFileSync(join(REQUIREMENTS, `${revision}.yaml`), 'utf8')) as { client: string[] };
  return client;
}

/** Run one scenario, and print its checks if it fails. */
async function hasPassed(scenario: string, revision: string, command: string): Promise<boolean> {
  const which = ['--scenario', scenario, '--spec-version', revision, '--expected-failures', BASELINE];
  const words = ['client', '--command', command, ...which, '--timeout', String(TIMEOUT_MS)];
  const { exitCode, all } = await execa(NODE, [PROGRAM, ...words], { all: true, reject: false });
  const checks = /^Passed: \d+\/\d+.*$/m.exec(all)?.[0] ?? '';
  process.stdout.write(`${exitCode === 0 ? 'passed' : 'FAILED'} ${scenario} ${checks}\n`);
  if (exitCode !== 0) process.stdout.write(`${all}\n`);
  return exitCode === 0;
}
