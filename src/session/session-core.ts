/**
 * What the parts of one session share: its identity, its log, its calls and its current context.
 *
 * The context is replaced here and nowhere else; each replacement that a reader can see is a frame.
 */
import { refuseWidening } from '../permissions/child-permissions.ts';
import { applyUpdates } from '../permissions/context.ts';
import { Questions, type Settled } from '../permissions/questions.ts';
import { type ExecutorEvents, StreamingToolExecutor } from '../schedule/streaming-tool-executor.ts';
import { SessionTasks } from '../tasks/session-tasks.ts';
import type { ContextModifier, ReadState, SessionContext } from '../tool/session-context.ts';
import type { TaskView } from '../tool/task.ts';
import type { NewFrame, OpenedFrame, PermissionRequestFrame, Seq } from '../wire/frames.ts';
import type { PermissionUpdate, ToolPermissionContext } from '../wire/permission-context.ts';
import { CallLedger } from './call-ledger.ts';
import type { CallRecord } from './call-record.ts';
import { contextFrame, isVisibleChange } from './context-frame.ts';
import { modifiedContext } from './modified-context.ts';
import { type Fact, questionFact, SettledCallIndex } from './restore/settled-call-index.ts';
import { SessionLog } from './session-log.ts';
import type { ClimbingFrame, ParentLink, RunningChild, SessionServices } from './session-services.ts';

/** Settled questions by request id. */
class SettledQuestions {
  readonly #settledCalls: SettledCallIndex;
  /** The oldest first. */
  readonly #recent: Map<string, Settled>;
  readonly #unsaved: Set<string>;

  /** @param recent Those that the log tells of and no fact does yet. */
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

  /** What a save must keep. */
  unsaved(): readonly Fact[] {
    return [...this.#unsaved].flatMap((id) => {
      const settled = this.#recent.get(id);
      return settled ? [questionFact(id, settled)] : [];
    });
  }

  /** Those the save was asked for are on disk: none need be in memory any more. */
  saved(facts: readonly Fact[]): void {
    for (const [key] of facts) {
      const id = key.slice(key.indexOf(':') + 1);
      this.#unsaved.delete(id);
      this.#recent.delete(id);
    }
  }
}

/** What a session is made from: its first frame, and what its log says since. */
export interface SessionState {
  readonly opened: OpenedFrame;
  readonly context: SessionContext;
  readonly head: number;
  /** Questions that no fact tells of. */
  readonly settled: ReadonlyMap<string, Settled>;
  /** Background tasks that its log tells of; all of them have ended. */
  readonly tasks?: readonly TaskView[];
  /** Given: it was saved before, and facts tell of what was settled by then. */
  readonly savedAs?: SavedAs;
}

/** What a session does that its parts do not do for themselves. */
export interface SessionCallbacks {
  events(core: SessionCore): ExecutorEvents;
  save(core: SessionCore): Promise<void>;
  saveReads(core: SessionCore): Promise<void>;
}

/** A question of a child session that is open. */
export interface ClimbedQuestion {
  readonly frame: PermissionRequestFrame;
  /** The child of this session that it came from. */
  readonly child: Pick<RunningChild, 'answer'>;
}

/** What was saved last. */
export interface SavedAs {
  /** The snapshot stands for frames up to there. */
  readonly seq: Seq;
  readonly context: SessionContext;
}

/** One session's shared state. */
export class SessionCore {
  readonly opened: OpenedFrame;
  readonly services: SessionServices;
  readonly log: SessionLog;
  readonly settledCalls: SettledCallIndex;
  readonly ledger: CallLedger;
  readonly settled: SettledQuestions;
  readonly questions: Questions;
  readonly executor: StreamingToolExecutor;
  /** What becomes of the states and modifiers of calls, inner ones included. */
  readonly events: ExecutorEvents;
  /** Inner calls without a result, in order of acceptance. */
  readonly innerCalls = new Set<CallRecord>();
  /** Of a child session: the call that opened it, while that runs. */
  parent: ParentLink | undefined;
  /** Children of calls that run. */
  readonly children = new Set<RunningChild>();
  /** Ids of all children, once one was opened since the session is in memory. */
  childIds: string[] | undefined;
  /** Open questions of children, by request id. */
  readonly climbed = new Map<string, ClimbedQuestion>();
  readonly tasks: SessionTasks;
  /** Connections whose person may answer. */
  attached = 0;
  /** Results that have been yielded and are not yet on their way to the log: they are being fitted. */
  leaving = 0;
  savedAs: SavedAs | undefined;
  /** The files whose reading is on disk. */
  savedReads: ReadState;
  /** Put aside which files were read since. @throws {GauntletError} `log_unavailable` */
  readonly saveReads: () => Promise<void>;
  /** Put aside what the session knows, so that it can sleep. @throws {GauntletError} `log_unavailable` */
  readonly save: () => Promise<void>;
  #isSaveDue = false;
  #context: SessionContext;
  readonly #ownTools;

  constructor(state: SessionState, services: SessionServices, callbacks: SessionCallbacks) {
    this.opened = state.opened;
    this.services = services;
    this.#ownTools = services.ownTools(state.opened);
    this.#context = state.context;
    this.log = new SessionLog(services, state.opened.session_id, state.head);
    this.savedAs = state.savedAs;
    this.savedReads = state.context.readState;
    this.save = () => callbacks.save(this);
    this.saveReads = () => callbacks.saveReads(this);
    this.settledCalls = new SettledCallIndex(services.log, this.id, {
      hasFacts: state.savedAs !== undefined,
      mostUnknown: services.limits.batchBlocks,
    });
    this.ledger = new CallLedger(this.settledCalls, services.limits.keptRecords);
    this.settled = new SettledQuestions(this.settledCalls, state.settled);
    this.questions = new Questions((frame) => this.#emitQuestion(frame), services.limits.openQuestions, this.settled);
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

  /** Current; a running call keeps the one it started with. */
  get context(): SessionContext {
    return this.#context;
  }

  /** Somebody watches who may answer. */
  get isWatched(): boolean {
    return this.attached > 0 || this.parent?.isWatched() === true;
  }

  /** The tools the session sees now. */
  get pool() {
    const { toolMode, permissions, cwd } = this.#context;
    return this.services.poolFor({ toolMode, permissions, cwd, principal: this.opened.principal, own: this.#ownTools });
  }

  /** True when all that was yielded is on disk, and nothing else is on its way. */
  get isLogged(): boolean {
    return this.leaving === 0 && this.log.isSettled;
  }

  /**
   * Save, where much was settled since the last time. Behind the commit in hand: then what it wrote is told of, and
   * nothing else is on its way.
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
    // Told at once: a session that is removed ends its questions, and has no log to write that to.
    if (frame.type === 'permission_resolved') this.parent?.climb(frame);
    await this.log.emit(frame);
    const isNew = frame.type === 'permission_request' && (frame.approvals?.by.length ?? 0) === 0;
    if (isNew) this.services.onQuestion?.(this.id, frame);
    if (frame.type === 'permission_resolved') this.services.onQuestionEnd?.(frame.request_id);
    if (frame.type === 'permission_request' && !this.settled.get(frame.request_id)) this.parent?.climb(frame);
  }

  /** A question of a child: it stands here as well, and with the parent of this session, until it has ended. */
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

  /** Replace the context; what a reader can see of it becomes a frame. */
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
   * The context that a tool would make of the current one.
   *
   * @throws {GauntletError} `tool_failed` where the session may not have it.
   */
  contextAfter(modifier: ContextModifier): SessionContext {
    const { limits } = this.services;
    const checkFolders = (folders: readonly string[]) => this.services.checkFolders(this.opened.principal, folders);
    const isChild = this.opened.parent !== undefined;
    return modifiedContext(this.#context, modifier, { limits, checkFolders, isChild });
  }

  /**
   * The permissions that `updates` would make.
   *
   * @throws {GauntletError} `invalid_request`, `forbidden`
   */
  permissionsAfter(updates: readonly PermissionUpdate[]): ToolPermissionContext {
    const added = updates.flatMap((update) => (update.type === 'addDirectories' ? update.directories : []));
    this.services.checkFolders(this.opened.principal, added);
    const before = this.#context.permissions;
    const after = applyUpdates(before, updates, this.services.limits);
    if (this.opened.parent) refuseWidening(before, after);
    return after;
  }

  /**
   * All updates of one request make one next version.
   *
   * @returns That version; others may have come after it meanwhile.
   * @throws {GauntletError} `invalid_request`, `forbidden`; `log_unavailable`, and then the old version holds.
   */
  async updatePermissions(updates: readonly PermissionUpdate[]): Promise<ToolPermissionContext> {
    const before = this.#context;
    const landing = this.setContext({ ...before, permissions: this.permissionsAfter(updates) });
    const after = this.#context;
    try {
      await landing;
      return after.permissions;
    } catch (error) {
      // Who asked is told that nothing changed; what was changed on top of it meanwhile stays.
      if (this.#context === after) {
        this.#context = before;
        for (const child of this.children) child.follow(after.permissions, before.permissions);
      }
      throw error;
    }
  }
}
