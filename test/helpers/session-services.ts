/** What a session directory is handed, over any log and in a temporary folder. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_LIMITS, type Limits } from '../../config/limits.ts';
import type { ToolUseBlock } from '../../src/wire/blocks.ts';
import type { Frame } from '../../src/wire/frames.ts';
import type { Tool } from '../../src/tool/tool.ts';
import { createFileHistory } from '../../src/files/history.ts';
import { emptyReadState } from '../../src/files/read-state.ts';
import { createLocatePath } from '../../src/files/scope.ts';
import { readSpilledRange, spillText } from '../../src/files/spill.ts';
import type { FrameLog } from '../../src/log/frame-log.ts';
import { createPermissionContext } from '../../src/permissions/context.ts';
import { readDenial } from '../../src/permissions/path-gate.ts';
import { createToolPools } from '../../src/pool/tool-pools.ts';
import type { SessionServices } from '../../src/session/session-services.ts';
import type { DirectoryServices } from '../../src/session/directory/session-directory.ts';
import type { Session } from '../../src/session/session.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Services over `log` and `tools`; `faults` collects what would go to the operator. */
export function sessionServices(
  log: FrameLog,
  tools: readonly Tool[],
  changes: Partial<Omit<SessionServices, 'limits'>> & {
    readonly limits?: Partial<Limits>;
    readonly folder?: string;
  } = {},
): DirectoryServices & { readonly faults: unknown[] } {
  const limits: Limits = { ...DEFAULT_LIMITS, ...changes.limits };
  const folder = changes.folder ?? temporaryFolder();
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace, { recursive: true });
  const pools = createToolPools(tools, { simpleTools: [], hiddenInRepl: [], toolSearch: 'auto' });
  const external: readonly Tool[] = [];
  const faults: unknown[] = [];
  return {
    log,
    defaultToolMode: 'normal',
    toolNames: { tools: tools.flatMap(({ name, aliases = [] }) => [name, ...aliases]), serversIn: () => [] },
    poolFor: (context) => pools.pool(context, external),
    ownTools: () => undefined,
    outputSchemaProblem: () => undefined,
    schemaTool: 'ToolSearch',
    locate: createLocatePath({ protectedPaths: [], privateFolders: [] }),
    history: createFileHistory({ folder: (sessionId) => join(folder, 'history', sessionId), limits }),
    readDenial,
    permissionsFor: (_principal, { mode = 'default', rules = {}, commandRules, additionalDirectories = [] }) =>
      createPermissionContext({
        mode,
        rules: { ...(commandRules && { command: commandRules }), session: rules },
        additionalDirectories,
        isBypassAvailable: true,
      }),
    checkFolders: () => undefined,
    emptyReadState: emptyReadState(),
    sessionFolder: (sessionId) => join(folder, sessionId),
    spill: spillText,
    readSpilled: readSpilledRange,
    siblingAbort: 'bash',
    onFault: (error) => faults.push(error),
    resolveFolder: () => workspace,
    workspaceSettings: () => [],
    removeFolder: (sessionId) => Promise.resolve(rmSync(join(folder, sessionId), { recursive: true, force: true })),
    faults,
    ...changes,
    limits,
  };
}

/** A block that calls `name` with `text`. */
export function blockOf(name: string, id: string, text = id): ToolUseBlock {
  return { type: 'tool_use', id, name, input: { text } };
}

/** A session's frames on disk. */
export async function framesOf(session: Session): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  for await (const page of session.read(0, { live: false })) frames.push(...page.map(({ frame }) => frame));
  return frames;
}

/** Submit blocks as one closed turn and wait for its reply. */
export async function execute(session: Session, blocks: readonly ToolUseBlock[], turnId?: string) {
  return session.collect(await session.submit({ blocks, turnId, onAsk: 'deny' }), AbortSignal.timeout(10_000));
}

/** The first frame after `after` that `isWanted`. */
export async function frameWhere(session: Session, isWanted: (frame: Frame) => boolean, after = 0): Promise<Frame> {
  for await (const page of session.read(after, { live: true, signal: AbortSignal.timeout(10_000) })) {
    const found = page.find(({ frame }) => isWanted(frame));
    if (found) return found.frame;
  }
  throw new Error('The frame did not come');
}

/** One that must be answered before a call runs, once it is asked. */
export async function question(session: Session) {
  const frame = await frameWhere(session, ({ type }) => type === 'permission_request');
  if (frame.type !== 'permission_request') throw new Error('Not a question');
  return frame;
}
