/**
 * What one call of a session may see and use, frozen as of its start.
 */
import type { FileChange } from '../../contract/file-change.ts';
import type { ChangeFrame } from '../../contract/frames.ts';
import type { ToolUseContext } from '../../contract/tool.ts';
import type { SessionCore } from '../session-core.ts';

/** Make a call's context. @param abortTurn Called by a tool that ends the turn after its call. */
export function toolUseContext(
  core: SessionCore,
  ids: { readonly turnId: string; readonly toolUseId: string },
  signal: AbortSignal,
  abortTurn: (reason: string) => void,
): ToolUseContext {
  const { context: session, services, pool } = core;
  return {
    session,
    signal,
    sessionId: core.id,
    ...ids,
    // Set when the gate is passed: a field that is there already is replaced, which is many times faster.
    located: undefined,
    isHeld: undefined,
    principal: core.opened.principal,
    tools: pool.tools,
    isDeferred: pool.isDeferred,
    sessionFolder: services.sessionFolder(core.id),
    isReadDenied: services.readDenial(session.permissions, session.root),
    changes: {
      announce: async (change) => void (await core.log.emit(changeFrame(ids.toolUseId, change))),
      report: (changes) =>
        core.log.insist(
          changes.map((change) => changeFrame(ids.toolUseId, change)),
          () => true,
          () => undefined,
        ),
    },
    abortTurn,
    notify: (level, code, message) => core.log.tell({ type: 'notice', level, code, message }),
  };
}

function changeFrame(tool_use_id: string, change: FileChange): ChangeFrame {
  return { type: 'change', tool_use_id, ...change };
}
