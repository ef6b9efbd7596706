/**
 * Builds the services of sessions from the settings and the parts of the server.
 */
import { rm } from 'node:fs/promises';
import type { Settings } from '../config/settings.ts';
import type { LocatePath } from '../src/tool/located-path.ts';
import type { Tool } from '../src/tool/tool.ts';
import type { FileHistory } from '../src/files/history.ts';
import { emptyReadState } from '../src/files/read-state.ts';
import { readSpilledRange, spillText } from '../src/files/spill.ts';
import type { Hooks } from '../src/hooks/hooks.ts';
import type { FrameLog } from '../src/log/frame-log.ts';
import { type OpenSharedStore, sessionNamespace } from '../src/log/shared-store.ts';
import type { PermissionClassifier } from '../src/permissions/classifier.ts';
import type { TwoPersonRules } from '../src/permissions/two-person.ts';
import { readDenial } from '../src/permissions/path-gate.ts';
import type { PoolContext } from '../src/pool/get-tools.ts';
import type { ToolPools } from '../src/pool/tool-pools.ts';
import type { DirectoryServices } from '../src/session/directory/session-directory.ts';
import { outputSchemaProblem, SCHEMA_TOOL, sessionTools } from '../tools/index.ts';
import { principalAccess } from './principal-access.ts';

/** Parts of the server that sessions use. */
export interface SessionParts {
  readonly log: FrameLog;
  readonly store: OpenSharedStore;
  readonly pools: ToolPools;
  readonly locate: LocatePath;
  readonly hooks?: Hooks;
  readonly history: FileHistory;
  readonly twoPerson?: TwoPersonRules;
  readonly classifier?: PermissionClassifier;
  onQuestion?: DirectoryServices['onQuestion'];
  onQuestionEnd?: DirectoryServices['onQuestionEnd'];
  limitsOf: DirectoryServices['limitsOf'];
  readonly toolNames: DirectoryServices['toolNames'];
  externalTools(context: PoolContext): readonly Tool[];
  endConnections(sessionId: string): Promise<void>;
  sessionFolder(sessionId: string): string;
  endProcesses(sessionId: string): Promise<void>;
  onFault(error: unknown, what: string): void;
}

/** Build the services that every session receives. */
export function sessionServices(settings: Settings, parts: SessionParts): DirectoryServices {
  const { limits } = settings;
  return {
    ...parts,
    limits,
    schemaTool: settings.toolSearch === 'off' ? undefined : SCHEMA_TOOL,
    siblingAbort: settings.siblingAbort,
    defaultToolMode: settings.toolMode,
    emptyReadState: emptyReadState(),
    poolFor: (context) => parts.pools.pool(context, parts.externalTools(context)),
    ownTools: ({ tools: allowed, output_schema: outputSchema }) =>
      allowed || outputSchema ? { allowed, brought: sessionTools({ outputSchema }) } : undefined,
    outputSchemaProblem,
    ...principalAccess(settings),
    readDenial,
    spill: spillText,
    readSpilled: readSpilledRange,
    removeShared: async (principal, sessionId) => {
      const shared = parts.store(principal, sessionNamespace(sessionId));
      for (const { key } of await shared.list()) await shared.delete(key);
    },
    removeFolder: async (sessionId) => {
      await rm(parts.sessionFolder(sessionId), { recursive: true, force: true });
      await parts.history.remove(sessionId);
    },
  };
}
