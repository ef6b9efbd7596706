/** A folder that is gone when the test file ends. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Make an empty folder, removed after the tests of this file. @param parent Exists. @returns Its absolute real path. */
export function temporaryFolder(parent = tmpdir()): string {
  const folder = realpathSync(mkdtempSync(join(parent, 'gauntlet-test-')));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
