/** A real session directory over a real log in a temporary folder, with the tools a test hands it. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { temporaryFolder } from './temporary-folder.ts';
import { DEFAULT_LIMITS, type Limits } from '../../config/limits.ts';
import type { Tool } from '../../src/contract/tool.ts';
import { emptyReadState } from '../../src/files/read-state.ts';
import { createLocatePath } from '../../src/files/scope.ts';
import { readSpilledRange, spillText } from '../../src/files/spill.ts';
import { openSqliteLog } from '../../src/log/sqlite-log.ts';
import { createPermissionContext } from '../../src/permissions/context.ts';
import { readDenial } from '../../src/permissions/path-gate.ts';
import { createToolPools } from '../../src/pool/tool-pools.ts';
import { SessionDirectory } from '../../src/session/session-directory.ts';

/** Make the directory; it is closed after the tests of this file. */
export function testSessions(tools: readonly Tool[], options: { readonly limits?: Partial<Limits> } = {}) {
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const folder = temporaryFolder();
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  const log = openSqliteLog({ folder, limits, durability: 'process' });
  const modes = { simpleTools: ['Bash'], hiddenInRepl: ['Read'] };
  const pools = createToolPools(tools, { ...modes, toolSearch: 'auto', limits });
  const external: readonly Tool[] = [];
  const directory = new SessionDirectory({
    log,
    limits,
    defaultToolMode: 'normal',
    poolFor: (context) => pools.pool(context, external),
    locate: createLocatePath({ protectedPaths: [], privateFolders: [] }),
    readDenial,
    permissionsFor: ({ mode = 'default', rules = {}, additionalDirectories = [] }) =>
      createPermissionContext({ mode, rules: { session: rules }, additionalDirectories, isBypassAvailable: true }),
    emptyReadState: emptyReadState(limits.readRecords),
    sessionFolder: (sessionId) => join(folder, sessionId),
    spill: spillText,
    readSpilled: readSpilledRange,
    siblingAbort: 'bash',
    onSessionEnd: () => undefined,
    onFault: (error, what) => process.stderr.write(`${what}: ${String(error)}\n`),
    resolveFolder: () => workspace,
    removeFolder: (sessionId) => Promise.resolve(rmSync(join(folder, sessionId), { recursive: true, force: true })),
  });
  afterAll(async () => {
    directory.close();
    await log.close();
  });
  return {
    directory,
    pools,
    log,
    workspace,
    sessionlessPool: (toolMode: 'normal') => pools.pool({ toolMode }, external),
  };
}
