/**
 * Shared state of one session: its identity, its log, its calls and its current context.
 *
 * Only this class replaces the context; each replacement that clients can see is logged.
 */
import { refuseWidening } from '../permissions/child-permissions.ts';
import { applyUpdates } from '../permissions/context.ts';
import { Questions, type Settled } from '../permissions/questions.ts';
import { type ExecutorEvents, StreamingToolExecutor } from '../schedule/streaming-tool-executor.ts';
import { SessionTasks } from '../tasks/session-tasks.ts';
import type { ContextModifier, ReadState, SessionContext } from '../tool/session-context.ts';
import type { TaskView } from '../tool/task.ts';
import { MAX_BATCH_BLOCKS } from '../wire/block-schema.ts';
import type { NewFrame, OpenedFrame, PermissionRequestFrame, Seq } from '../wire/frames.ts';
import type { PermissionUpdate, ToolPermissionContext } from '../wire/permission-context.ts';
import { CallLedger } from './call-ledger.ts';
import { contextFrame, isVisibleChange } from './context-frame.ts';
import { modifiedContext } from './modified-context.ts';
import { type Fact, questionFact, SettledCallIndex } from './restore/settled-call-index.ts';
import { NO_LABEL, type SessionLabel } from './session-label.ts';
import { SessionLog } from './session-log.ts';
import type { ClimbingFrame, ParentLink, RunningChild, SessionServices } from './session-services.ts';
import type { Call } from './turn/turn.ts';

/** Questions open at once in one session; no person looks through more. */
const MAX_OPEN_QUESTIONS = 256;

/** Settled questions by request id. */
class SettledQuestions {
  readonly #settledCalls: SettledCallIndex;
  /** Oldest first. */
  readonly #recent: Map<string, Settled>;
  readonly #unsaved: Set<string>;

  /** @param recent Questions that are in the log and not yet in a fact. */
  constructor(settledCalls: SettledCallIndex, recent: ReadonlyMap<string, Settled>) {
    this.#settledCalls = settledCalls;
    this.#recent = new Map(recent);
    this.#unsaved = new Set(recent.keys());
  }

  get(requestId: string): Settled | undefined {
    return this.#recent.get(requestId) ?? this.#settledCalls.question(requestId);
  }

  set(requestId: string, settled: Settled): void {
    this.#recent.set(requestId, settled);
    this.#unsaved.add(requestId);
  }

  /** Facts that the next save must contain. */
  unsaved(): readonly Fact[] {
    return [...this.#unsaved].flatMap((id) => {
      const settled = this.#recent.get(id);
      return settled ? [questionFact(id, settled)] : [];
    });
  }

  /** Drop the saved questions from memory. */
  saved(facts: readonly Fact[]): void {
    for (const [key] of facts) {
      const id = key.slice(key.indexOf(':') + 1);
      this.#unsaved.delete(id);
      this.#recent.delete(id);
    }
  }
}

/** Initial state of a session: its first frame, and what its log added since. */
export interface SessionState {
  readonly opened: OpenedFrame;
  readonly context: SessionContext;
  readonly head: number;
  /** Settled questions that no fact contains. */
  readonly settled: ReadonlyMap<string, Settled>;
  /** Background tasks in its log; all of them have ended. */
  readonly tasks?: readonly TaskView[];
  readonly label?: SessionLabel;
  /** Last save, if there was one; facts contain what was settled by then. */
  readonly savedAs?: SavedAs;
}

/** Functions that operate on the whole core. */
export interface SessionCallbacks {
  events(core: SessionCore): ExecutorEvents;
  save(core: SessionCore): Promise<void>;
  saveReads(core: SessionCore): Promise<void>;
}

/** An open question of a child session. */
export interface ClimbedQuestion {
  readonly frame: PermissionRequestFrame;
  /** Child of this session through which it came. */
  readonly child: Pick<RunningChild, 'answer'>;
}

/** Last save of a session. */
export interface SavedAs {
  /** Last frame that the snapshot includes. */
  readonly seq: Seq;
  readonly context: SessionContext;
}

/** Shared state of one session. */
export class SessionCore {
  readonly opened: OpenedFrame;
  readonly services: SessionServices;
  readonly log: SessionLog;
  readonly settledCalls: SettledCallIndex;
  readonly ledger: CallLedger;
  readonly settled: SettledQuestions;
  readonly questions: Questions;
  readonly executor: StreamingToolExecutor;
  /** Handlers of states and modifiers of calls, inner ones included. */
  readonly events: ExecutorEvents;
  /** Inner calls without a result, in order of acceptance. */
  readonly innerCalls = new Set<Call>();
  /** For a child session, the call that opened it, while that runs. */
  parent: ParentLink | undefined;
  /** Children of running calls. */
  readonly children = new Set<RunningChild>();
  /** Ids of all children, loaded when the first child is opened. */
  childIds: string[] | undefined;
  /** Open questions of children, by request id. */
  readonly climbed = new Map<string, ClimbedQuestion>();
  readonly tasks: SessionTasks;
  savedAs: SavedAs | undefined;
  /** Title and archive mark that its principal gave it. */
  label: SessionLabel;
  /** True once it was removed or unloaded. */
  isClosed = false;
  /** Read state of the last save. */
  savedReads: ReadState;
  /** Save the read state. @throws {GauntletError} `log_unavailable` */
  readonly saveReads: () => Promise<void>;
  /** Save the session, so that it can be unloaded. @throws {GauntletError} `log_unavailable` */
  readonly save: () => Promise<void>;
  #isSaveDue = false;
  /** Number of connections that may answer questions. */
  #attachedCount = 0;
  /** Number of yielded results that are being fitted and are not yet sent to the log. */
  #leavingCount = 0;
  #context: SessionContext;
  readonly #ownTools;

  constructor(state: SessionState, services: SessionServices, callbacks: SessionCallbacks) {
    this.opened = state.opened;
    this.services = services;
    this.#ownTools = services.ownTools(state.opened);
    this.#context = state.context;
    this.log = new SessionLog(services, state.opened.session_id, state.head);
    this.savedAs = state.savedAs;
    this.label = state.label ?? NO_LABEL;
    this.savedReads = state.context.readState;
    this.save = () => callbacks.save(this);
    this.saveReads = () => callbacks.saveReads(this);
    this.settledCalls = new SettledCallIndex(services.log, this.id, {
      hasFacts: state.savedAs !== undefined,
      maxUnknown: MAX_BATCH_BLOCKS,
    });
    this.ledger = new CallLedger(this.settledCalls, services.limits.keptRecords);
    this.settled = new SettledQuestions(this.settledCalls, state.settled);
    this.questions = new Questions((frame) => this.#emitQuestion(frame), MAX_OPEN_QUESTIONS, this.settled);
    this.events = callbacks.events(this);
    this.executor = new StreamingToolExecutor(this.events, services.limits.toolUseConcurrency);
    this.tasks = new SessionTasks(
      {
        limits: services.limits,
        logStart: (frame) => this.log.emit(frame),
        logOutput: (frame) => this.log.tell(frame),
        logEnd: (frame) =>
          this.log.insist(
            [frame],
            () => true,
            () => undefined,
          ),
        readFile: (path, range) => services.readSpilled(path, range),
      },
      state.tasks,
    );
  }

  get id(): string {
    return this.opened.session_id;
  }

  /** Root session of a child session whose call runs. */
  get rootId(): string {
    return this.parent?.rootId ?? this.id;
  }

  /** Current context; a running call keeps the one it started with. */
  get context(): SessionContext {
    return this.#context;
  }

  /** True if a client that may answer is connected. */
  get isAttached(): boolean {
    return this.#attachedCount > 0;
  }

  /** Register a client that may answer. @returns A function that removes it again. */
  attach(): () => void {
    this.#attachedCount++;
    let isAttached = true;
    return () => {
      if (isAttached) this.#attachedCount--;
      isAttached = false;
    };
  }

  /** Run work that sends a yielded result; until it ends, not everything yielded is on its way to the disk. */
  async whileLeaving<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#leavingCount++;
    try {
      return await work();
    } finally {
      this.#leavingCount--;
    }
  }

  /** True if a client that may answer watches this session or its parent. */
  get isWatched(): boolean {
    return this.isAttached || this.parent?.isWatched() === true;
  }

  /** Tools that the session sees now. */
  get pool() {
    return this.poolUnder(this.#context);
  }

  /** Tools that the session would see in another context. */
  poolUnder({ toolMode, permissions, cwd }: SessionContext) {
    const { principal, cwd: folder } = this.opened;
    const home = this.isClosed ? undefined : { rootId: this.rootId, folder };
    return this.services.poolFor({ toolMode, permissions, cwd, principal, own: this.#ownTools, home });
  }

  /** True if everything yielded is on disk, and no frame is being written. */
  get isLogged(): boolean {
    return this.#leavingCount === 0 && this.log.isSettled;
  }

  /**
   * Save if much was settled since the last save. Delayed until after the current commit, whose callbacks have then run
   * and after which no frame is being written.
   */
  saveIfDue(): void {
    if (this.#isSaveDue || this.ledger.unsavedCount < this.services.limits.keptRecords) return;
    this.#isSaveDue = true;
    setTimeout(() => {
      this.#isSaveDue = false;
      this.save().catch((error: unknown) => this.services.onFault(error, 'A session could not be saved'));
    }, 0);
  }

  async #emitQuestion(frame: NewFrame): Promise<void> {
    // Sent at once: a removed session ends its questions, but has no log to write to.
    this.#traceQuestion(frame);
    if (frame.type === 'permission_resolved') this.parent?.climb(frame);
    await this.log.emit(frame);
    const isNew = frame.type === 'permission_request' && (frame.approvals?.by.length ?? 0) === 0;
    if (isNew) this.services.onQuestion?.(this.id, frame);
    if (frame.type === 'permission_resolved') this.services.onQuestionEnd?.(frame.request_id);
    if (frame.type === 'permission_request' && !this.settled.get(frame.request_id)) this.parent?.climb(frame);
  }

  #traceQuestion(frame: NewFrame): void {
    if (frame.type === 'permission_request') this.ledger.call(frame.tool_use_id)?.trace?.asked();
    if (frame.type === 'permission_resolved')
      this.ledger.call(frame.tool_use_id)?.trace?.answered(frame.behavior, frame.by);
  }

  /** Log a question of a child here and in the parent of this session, until it is settled. */
  climb(frame: ClimbingFrame, child: ClimbedQuestion['child']): void {
    const { request_id } = frame;
    if (frame.type === 'permission_request') this.climbed.set(request_id, { frame, child });
    else {
      this.climbed.delete(request_id);
      this.settled.set(request_id, { behavior: frame.behavior, by: frame.by });
    }
    this.log.insist(
      [frame],
      () => true,
      () => undefined,
    );
    this.parent?.climb(frame);
  }

  /** Replace the context; a change that clients can see is logged. */
  setContext(next: SessionContext): Promise<unknown> {
    const before = this.#context;
    if (next === before) return Promise.resolve();
    const after = Object.freeze({ ...next, version: before.version + 1 });
    this.#context = after;
    if (after.permissions !== before.permissions)
      for (const child of this.children) child.follow(before.permissions, after.permissions);
    return isVisibleChange(before, after) ? this.log.emit(contextFrame(this.opened, before, after)) : Promise.resolve();
  }

  /**
   * Return the context that a modifier would make of the current one.
   *
   * @throws {GauntletError} `tool_failed` if the session may not have it.
   */
  contextAfter(modifier: ContextModifier): SessionContext {
    const checkFolders = (folders: readonly string[]) => this.services.checkFolders(this.opened.principal, folders);
    const isChild = this.opened.parent !== undefined;
    return modifiedContext(this.#context, modifier, { checkFolders, isChild });
  }

  /**
   * Return the permissions that `updates` would make.
   *
   * @throws {GauntletError} `invalid_request`, `forbidden`
   */
  permissionsAfter(updates: readonly PermissionUpdate[]): ToolPermissionContext {
    const added = updates.flatMap((update) => (update.type === 'addDirectories' ? update.directories : []));
    this.services.checkFolders(this.opened.principal, added);
    const before = this.#context.permissions;
    const after = applyUpdates(before, updates);
    if (this.opened.parent) refuseWidening(before, after);
    return after;
  }

  /**
   * Apply all updates of one request as one new version.
   *
   * @returns That version; later ones may exist by then.
   * @throws {GauntletError} `invalid_request`, `forbidden`; `log_unavailable`, and then the old version stays in
   *   effect.
   */
  async updatePermissions(updates: readonly PermissionUpdate[]): Promise<ToolPermissionContext> {
    const before = this.#context;
    const landing = this.setContext({ ...before, permissions: this.permissionsAfter(updates) });
    const after = this.#context;
    try {
      await landing;
      return after.permissions;
    } catch (error) {
      // The caller is notified of the failure; changes that others made on top of it are kept.
      if (this.#context === after) {
        this.#context = before;
        for (const child of this.children) child.follow(after.permissions, before.permissions);
      }
      throw error;
    }
  }
}
