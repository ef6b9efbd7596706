/** A real session directory over a real log in a temporary folder, with the tools a test hands it. */
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from '../../config/limits.ts';
import type { Tool } from '../../src/tool/tool.ts';
import { openSqliteLog } from '../../src/log/sqlite-log.ts';
import { createToolPools } from '../../src/pool/tool-pools.ts';
import { SessionDirectory } from '../../src/session/directory/session-directory.ts';
import type { SessionServices } from '../../src/session/session-services.ts';
import { sessionServices } from './session-services.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Make the directory; it is closed after the tests of this file. */
export function testSessions(
  tools: readonly Tool[],
  options: { readonly limits?: Partial<Limits>; readonly services?: Partial<Omit<SessionServices, 'limits'>> } = {},
) {
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const folder = temporaryFolder();
  const log = openSqliteLog({ folder, limits, durability: 'process' });
  const modes = { simpleTools: ['Bash'], hiddenInRepl: ['Read'] };
  const pools = createToolPools(tools, { ...modes, toolSearch: 'auto' });
  const external: readonly Tool[] = [];
  const directory = new SessionDirectory(
    sessionServices(log, tools, {
      ...options.services,
      limits,
      folder,
      poolFor: (context) => pools.pool(context, external),
      onFault: (error, what) => process.stderr.write(`${what}: ${String(error)}\n`),
    }),
  );
  afterAll(async () => {
    await directory.close();
    await log.close();
  });
  return {
    directory,
    pools,
    log,
    workspace: join(folder, 'workspace'),
    newSessionPool: (_principal: string, toolMode: 'normal') => pools.pool({ toolMode }, external),
  };
}
