/**
 * Interface of a session for the routes: blocks in, frames out, and answers to questions.
 */
import type { PermissionUpdate, WirePermissionContext } from '../wire/permission-context.ts';
import type { IdScope, ToolSearchForm } from '../wire/block-schema.ts';
import type { LogBounds, LoggedFrame, ReadOptions } from '../log/frame-log.ts';
import { toWirePermissionContext } from '../permissions/context.ts';
import { deadRules } from '../permissions/dead-rules.ts';
import { answerPrompt, type PromptAnswer } from './questions/answer.ts';
import { cancelCalls, type CancelTarget, interruptCalls, stopWorking, workingCalls } from './cancel.ts';
import { describeSession, runningCalls } from './directory/describe-session.ts';
import type { RunningCall, SessionDescription } from '../wire/session-replies.ts';
import { explainCall } from './explain-call.ts';
import { Feeder } from './feed/feeder.ts';
import type { ReplayFrame } from '../wire/control-frames.ts';
import { acceptBlocks, type Submission, type SubmittedTurn } from './turn/intake.ts';
import type { SessionCore } from './session-core.ts';
import { sessionHistory, type SessionHistory } from './session-history.ts';
import { changedLabel, type LabelChange, saveLabel } from './session-label.ts';
import { sessionChanges, type SessionChanges } from './changes/session-changes.ts';
import { SERVER_STOPPED } from '../tasks/task-frames.ts';
import { taskList, type TaskList } from './task-list.ts';
import { collectTurn, turnFrames, type TurnReply } from './turn/turn-reply.ts';

/** One session. */
export class Session {
  readonly #core: SessionCore;

  constructor(core: SessionCore) {
    this.#core = core;
  }

  get id(): string {
    return this.#core.id;
  }

  get principal(): string {
    return this.#core.opened.principal;
  }

  /** The session above all others. */
  get rootId(): string {
    return this.#core.rootId;
  }

  /** How far ids of its calls are unique, where a request does not say. */
  get idScope(): IdScope {
    return this.#core.opened.id_scope ?? 'session';
  }

  /** Form in which its ToolSearch answers. */
  get toolSearch(): ToolSearchForm {
    return this.#core.opened.tool_search ?? 'text';
  }

  /** True for a session that a call of another one opened. */
  get isChild(): boolean {
    return this.#core.opened.parent !== undefined;
  }

  /** Current context; a running call keeps the one it started with. */
  get context() {
    return this.#core.context;
  }

  get epoch(): string {
    return this.#core.services.log.epoch;
  }

  /**
   * True while a call runs or waits, the call that opened the session runs, a background task runs, a turn is open, a
   * frame is being written, or a client that may answer is attached.
   */
  get isInUse(): boolean {
    const { executor, isAttached, ledger, parent } = this.#core;
    const isRunning = executor.isBusy || parent !== undefined || this.hasTasks || ledger.unended.length > 0;
    return isRunning || isAttached || !this.isLogged;
  }

  /** Number of calls accepted and not yet yielded. */
  get callCount(): number {
    return this.#core.executor.unyieldedCount + this.#core.innerCalls.size;
  }

  /** True if everything yielded is on disk. */
  get isLogged(): boolean {
    return this.#core.isLogged;
  }

  /** True once another process runs this session: it must be opened again. */
  get isTakenOver(): boolean {
    return this.#core.log.isTakenOver;
  }

  /** True if a client that may answer is attached. */
  get isWatched(): boolean {
    return this.#core.isAttached;
  }

  /** True while a call makes progress; one that waits for an answer does not. */
  get isWorking(): boolean {
    return workingCalls(this.#core).length > 0;
  }

  /** True while a background task runs. */
  get hasTasks(): boolean {
    return this.runningTaskCount > 0;
  }

  get runningTaskCount(): number {
    return this.#core.tasks.runningCount;
  }

  /** Return the tools this session sees. */
  pool() {
    return this.#core.pool;
  }

  describe(): SessionDescription {
    return describeSession(this.#core);
  }

  /** Change its title or archive mark. @returns Once it is on disk. @throws {GauntletError} `log_unavailable` */
  async relabel(change: LabelChange): Promise<void> {
    const { label: before, services } = this.#core;
    const label = changedLabel(before, change);
    this.#core.label = label;
    try {
      await saveLabel(services.log, this.id, label);
    } catch (error) {
      if (this.#core.label === label) this.#core.label = before;
      throw error;
    }
  }

  running(): readonly RunningCall[] {
    return runningCalls(this.#core);
  }

  /** Accept the blocks of a whole turn. @throws {GauntletError} as `acceptBlocks` */
  submit(submission: Omit<Submission, 'isClosed'>): Promise<SubmittedTurn> {
    return acceptBlocks(this.#core, { ...submission, isClosed: true });
  }

  /** Wait for all results of a turn, in block order. */
  collect(turn: SubmittedTurn, signal: AbortSignal): Promise<TurnReply> {
    return collectTurn(this.#core, turn, signal);
  }

  /** Yield a turn's frames as they happen, ending with its `turn_end`. */
  turnFrames(turn: SubmittedTurn, signal: AbortSignal): AsyncIterable<readonly LoggedFrame[]> {
    return turnFrames(this.#core, turn, signal);
  }

  /**
   * Create the feeder of a connection.
   *
   * @param send Sends frames that are only for that connection.
   * @param trace Trace of the connection.
   */
  feeder(send: (frame: ReplayFrame) => void, trace?: Submission['trace']): Feeder {
    return new Feeder(this.#core, send, trace);
  }

  /** @throws {GauntletError} `invalid_request`, `forbidden`, `log_unavailable` */
  async updatePermissions(updates: readonly PermissionUpdate[]): Promise<WirePermissionContext> {
    return toWirePermissionContext(await this.#core.updatePermissions(updates));
  }

  /** Return warnings about those of `rules` in the session that can never apply. */
  ruleWarnings(rules: readonly string[]): readonly string[] {
    if (rules.length === 0) return [];
    const { context, services, opened } = this.#core;
    const { tools, serversIn } = services.toolNames;
    const asked = new Set(rules.map((rule) => rule.trim()));
    return deadRules(context.permissions, [...tools, ...serversIn(opened.cwd)], asked)
      .filter(({ source }) => source === 'session')
      .map(({ rule, why }) => `Rule "${rule}" never decides anything: ${why}`);
  }

  permissions(): WirePermissionContext {
    return toWirePermissionContext(this.#core.context.permissions);
  }

  /** Decide about a call, without running it or asking anyone. */
  explain(name: string, input: Parameters<typeof explainCall>[2]) {
    return explainCall(this.#core, name, input);
  }

  /** Open questions of the session itself. */
  get ownPrompts() {
    return this.#core.questions.open;
  }

  /** Open questions of the session, then those of its children. */
  prompts() {
    const climbed = [...this.#core.climbed.values()].map(({ frame }) => frame);
    return [...this.ownPrompts, ...climbed];
  }

  /** Answer a question; the first answer wins. @throws {GauntletError} as `answerPrompt` */
  answer(requestId: string, answer: PromptAnswer, by: string) {
    return answerPrompt(this.#core, requestId, answer, by);
  }

  /** Cancel one call, one turn, or everything. @returns Their ids. @throws {GauntletError} `not_found` */
  cancel(target: CancelTarget = {}): readonly string[] {
    return cancelCalls(this.#core, target);
  }

  /** Interrupt the session: running tools choose to stop or continue, queued calls are cancelled. */
  interrupt(): void {
    interruptCalls(this.#core);
  }

  /** Read frames after `after`; ends with the session. */
  read(after: number, options: ReadOptions): AsyncIterable<readonly LoggedFrame[]> {
    return this.#core.services.log.read(this.id, after, options);
  }

  bounds(): LogBounds {
    return this.#core.services.log.bounds(this.id) ?? { first: 1, head: 0 };
  }

  /** Readings of its log: results, search, export. */
  get history(): SessionHistory {
    return sessionHistory(this.#core);
  }

  /** Changes that its tools made to files, and their undo. */
  get changes(): SessionChanges {
    return sessionChanges(this.#core);
  }

  /** Its background tasks. */
  get tasks(): TaskList {
    return taskList(this.#core);
  }

  /** Register a client that may answer. @returns A function that removes it again. */
  attach(): () => void {
    return this.#core.attach();
  }

  /** Notify viewers that the tool list changed; the next call uses the new one. */
  announceTools(): void {
    const { prefixSha256, builtInCount, mcpCount } = this.pool();
    this.#core.log.tell({
      type: 'tools_changed',
      prefix_sha256: prefixSha256,
      built_in_count: builtInCount,
      mcp_count: mcpCount,
    });
  }

  /** Stop calls and tasks because the server ends. */
  stopWorking(): void {
    stopWorking(this.#core);
    void this.#core.tasks.stopAll(SERVER_STOPPED);
  }

  /** End all calls because the session is removed. */
  end(): void {
    this.#core.executor.end('cancelled', 'Cancelled: the session was removed');
    void this.close();
  }

  /** Save the session, so that it can be unloaded. @throws {GauntletError} `log_unavailable` */
  save(): Promise<void> {
    return this.#core.save();
  }

  /** True if the read state changed since it was saved. */
  get hasNewReads(): boolean {
    return this.#core.context.readState !== this.#core.savedReads;
  }

  /** Save the read state, which is not in the log. @throws As `save`. */
  saveReads(): Promise<void> {
    return this.#core.saveReads();
  }

  /**
   * End timers, retries, background tasks and connections of its own; open questions remain in the log.
   *
   * @returns Once they have ended.
   */
  async close(): Promise<void> {
    this.#core.isClosed = true;
    const ended = Promise.all([
      this.#core.tasks.stopAll({ status: 'killed' }),
      this.#core.services.endConnections?.(this.id),
    ]);
    this.#core.questions.suspend();
    this.#core.log.close();
    await ended;
  }
}
