/** A call's context for tests that run a tool by itself. */
import type { CanUseTool, ToolUseContext } from '../../src/tool/tool.ts';
import type { FileReadRecord, ReadState, SessionContext } from '../../src/tool/session-context.ts';
import type { AssistantMessage } from '../../src/wire/blocks.ts';
import type { Tasks } from '../../src/tool/task.ts';
import type { SessionTasks } from '../../src/tasks/session-tasks.ts';
import { testTasks } from './session-tasks.ts';

/** A read state that remembers everything. */
export function plainReadState(records: ReadonlyMap<string, FileReadRecord> = new Map()): ReadState {
  return {
    get: (path) => records.get(path),
    recent: (limit) => [...records.values()].slice(-limit),
    with: (record) => plainReadState(new Map(records).set(record.path, record)),
  };
}

/** A session context whose one working directory is `root`. */
export function sessionContextIn(root: string, changes: Partial<SessionContext> = {}): SessionContext {
  return Object.freeze({
    version: 1,
    permissions: {
      version: 1,
      mode: 'default' as const,
      rules: {},
      additionalDirectories: [],
      isBypassAvailable: true,
      shouldAvoidPermissionPrompts: false,
    },
    root,
    cwd: root,
    toolMode: 'normal' as const,
    readState: plainReadState(),
    toolState: {},
    ...changes,
  });
}

/** The tasks of a session as its call `call-1` sees them. */
export function callTasks(tasks: SessionTasks, signal = new AbortController().signal): Tasks {
  return {
    start: (work) => tasks.start(work, { toolUseId: 'call-1', signal }),
    read: (taskId) => tasks.read(taskId),
    wait: (taskId, wait) => tasks.wait(taskId, wait),
    stop: (taskId) => tasks.stop(taskId),
  };
}

/** A call's context in `root`; nothing is denied and nobody cancels unless `changes` says so. */
export function toolUseContextIn(root: string, changes: Partial<ToolUseContext> = {}): ToolUseContext {
  return {
    session: sessionContextIn(root),
    signal: new AbortController().signal,
    sessionId: 'session-1',
    rootSessionId: 'session-1',
    turnId: 'turn-1',
    toolUseId: 'call-1',
    principal: 'owner',
    tools: [],
    innerTools: [],
    isDeferred: () => false,
    sessionFolder: `${root}/.session-1`,
    isReadDenied: () => false,
    changes: { announce: () => Promise.resolve(), report: () => undefined },
    run: () => Promise.reject(new Error('Nothing runs inner calls here')),
    openChild: () => Promise.reject(new Error('Nothing opens child sessions here')),
    tasks: callTasks(testTasks().tasks),
    ask: () => Promise.resolve({ behavior: 'deny', message: 'Nobody is asked here' }),
    abortTurn: () => undefined,
    notify: () => undefined,
    ...changes,
  };
}

/** A gate that lets everything through. */
export const allowEverything: CanUseTool = () =>
  Promise.resolve({ behavior: 'allow', reason: { type: 'default' }, message: '', suggestions: [], warnings: [] });

/** The assistant message of a test's call. */
export const parentMessage: AssistantMessage = { role: 'assistant', content: [] };
