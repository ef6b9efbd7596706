/** Folders that are gone when the test file ends. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];

// Said once, before any test runs: what is said within a test is not heard.
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Make an empty folder, removed after the tests of this file. @param parent Exists. @returns Its absolute real path. */
export function temporaryFolder(parent = tmpdir()): string {
  const folder = realpathSync(mkdtempSync(join(parent, 'gauntlet-test-')));
  made.push(folder);
  return folder;
}
