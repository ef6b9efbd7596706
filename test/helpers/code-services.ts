/** What LSP and REPL need to run for real: a process host, its jail, and processes that are kept. */
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { DEFAULT_LIMITS } from '../../config/limits.ts';
import { createJail } from '../../src/process/jail/jail.ts';
import { createCodeProcesses } from '../../tools/code/code-processes.ts';
import { testProcessHost } from './process-host.ts';

/** Start them; they end with the test file. @param home Absolute folder of the test. */
export function codeServices(home: string) {
  const processHost = testProcessHost();
  const jail = createJail({
    settings: { scope: 'reads', isRequired: false, wordsAlone: false },
    host: processHost,
    ownPaths: [],
    readOnlyPaths: [],
    folder: join(home, 'jail'),
    limits: DEFAULT_LIMITS,
  });
  const codeProcesses = createCodeProcesses();
  afterAll(() => codeProcesses.close());
  return { limits: DEFAULT_LIMITS, processHost, jail, codeProcesses };
}
