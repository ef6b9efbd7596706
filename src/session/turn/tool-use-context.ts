/**
 * Builds the environment of one call, frozen at its start.
 */
import { GauntletError } from '../../base/errors.ts';
import type { FileChange } from '../../wire/file-change.ts';
import type { ChangeFrame } from '../../wire/frames.ts';
import type { AskMidCall } from '../../tool/mid-call-question.ts';
import type { ToolUseContext } from '../../tool/tool.ts';
import type { ToolPool } from '../../pool/tool-pool.ts';
import type { SessionCore } from '../session-core.ts';
import { taskChildren } from './child-sessions.ts';

type CallIds = Pick<ToolUseContext, 'turnId' | 'toolUseId' | 'parentToolUseId'>;

/** Parts of a call's context that come from the call itself. */
interface CallParts extends Pick<ToolUseContext, 'signal' | 'trace'> {
  /** Absent: the session's current context. */
  readonly session?: ToolUseContext['session'];
  readonly ids: CallIds;
  /** Called by a tool that ends the turn after its call. */
  abortTurn(reason: string): void;
  /** True once the call has ended. */
  isOver(): boolean;
  readonly ask: AskMidCall;
}

/** Make a call's context. @param pool The tools that the session sees as the call begins. */
export function toolUseContext(
  core: SessionCore,
  pool: ToolPool,
  { session = core.context, ids, signal, abortTurn, isOver, ask, trace }: CallParts,
): ToolUseContext {
  const { services } = core;
  return {
    session,
    signal,
    sessionId: core.id,
    rootSessionId: core.rootId,
    ...ids,
    // Set when the gate is passed: replacing an existing property is much faster than adding one.
    located: undefined,
    isHeld: undefined,
    principal: core.opened.principal,
    trace,
    tools: pool.tools,
    onlyTools: core.opened.tools,
    innerTools: pool.innerTools,
    isDeferred: pool.isDeferred,
    toolSearch: core.opened.tool_search,
    sessionFolder: services.sessionFolder(core.id),
    isReadDenied: services.readDenial(session.permissions, session.root),
    changes: {
      announce: async (change) => void (await core.log.emit(changeFrame(ids, change))),
      report: (changes) =>
        core.log.insist(
          changes.map((change) => changeFrame(ids, change)),
          () => true,
          () => undefined,
        ),
    },
    // Replaced when the gate is passed.
    run: refuseToRun,
    openChild: refuseToRun,
    tasks: {
      start: async (work) => {
        if (isOver()) throw new GauntletError('cancelled', 'Cannot start a task: the call that starts it has ended');
        const record = core.ledger.call(ids.toolUseId);
        return core.tasks.start(work, {
          toolUseId: ids.toolUseId,
          signal,
          ...(record && { childrenOf: taskChildren(core, record) }),
        });
      },
      read: (taskId) => core.tasks.read(taskId),
      wait: (taskId, wait) => core.tasks.wait(taskId, wait),
      stop: (taskId) => core.tasks.stop(taskId),
    },
    ask: oneAfterTheOther(ask),
    abortTurn,
    notify: (level, code, message) => core.log.tell({ type: 'notice', level, code, message }),
  };
}

/** A person answers one question of a call at a time, and a log names one open question of it. */
function oneAfterTheOther(ask: AskMidCall): AskMidCall {
  let last: Promise<unknown> = Promise.resolve();
  return (question, signal) => {
    const answer = last.then(() => ask(question, signal));
    last = answer.catch(() => undefined);
    return answer;
  };
}

function refuseToRun(): Promise<never> {
  const message = 'Cannot run an inner call or open a child session before the call itself has begun';
  return Promise.reject(new GauntletError('conflict', message));
}

function changeFrame({ toolUseId, parentToolUseId }: CallIds, change: FileChange): ChangeFrame {
  return { type: 'change', tool_use_id: toolUseId, parent_tool_use_id: parentToolUseId, ...change };
}
