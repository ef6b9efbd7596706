/**
 * A session, as its doors see it: blocks go in, frames come out, questions are answered.
 */
import {
  toWirePermissionContext,
  type PermissionUpdate,
  type WirePermissionContext,
} from '../wire/permission-context.ts';
import type { LogBounds, LoggedFrame, ReadOptions } from '../log/frame-log.ts';
import { deadRules } from '../permissions/dead-rules.ts';
import { answerPrompt, type PromptAnswer } from './questions/answer.ts';
import { cancelCalls, type CancelTarget, interruptCalls, stopWorking, workingCalls } from './cancel.ts';
import {
  describeSession,
  runningCalls,
  type RunningCall,
  type SessionDescription,
} from './directory/describe-session.ts';
import { explainCall } from './explain-call.ts';
import { Feeder, type ReplayFrame } from './feed/feeder.ts';
import { acceptBlocks, type Submission, type SubmittedTurn } from './turn/intake.ts';
import type { SessionCore } from './session-core.ts';
import { sessionChanges, type SessionChanges } from './changes/session-changes.ts';
import {
  resultTextPage,
  type ResultTextPage,
  searchResults,
  type SearchHit,
  type TextRange,
} from './turn/stored-result.ts';
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

  /** Current; a running call keeps the one it started with. */
  get context() {
    return this.#core.context;
  }

  get epoch(): string {
    return this.#core.services.log.epoch;
  }

  /**
   * True while a call runs or waits, the call that opened it runs, a background task runs, a turn is open, a frame is on
   * its way, or somebody watches who may answer.
   */
  get isInUse(): boolean {
    const { executor, attached, ledger, parent } = this.#core;
    const isRunning = executor.isBusy || parent !== undefined || this.hasTasks || ledger.unended.length > 0;
    return isRunning || attached > 0 || !this.isLogged;
  }

  /** Calls accepted and not yet yielded. */
  get callCount(): number {
    return this.#core.executor.unyieldedCount + this.#core.innerCalls.size;
  }

  /** True when all that was yielded is on disk. */
  get isLogged(): boolean {
    return this.#core.isLogged;
  }

  /** True once another process runs this session: it must be opened again. */
  get isTakenOver(): boolean {
    return this.#core.log.isTakenOver;
  }

  /** Somebody watches who may answer. */
  get isWatched(): boolean {
    return this.#core.attached > 0;
  }

  /** True while a call's work goes on; one that waits for an answer does not work. */
  get isWorking(): boolean {
    return workingCalls(this.#core).length > 0;
  }

  /** A background task runs. */
  get hasTasks(): boolean {
    return this.#core.tasks.runningCount > 0;
  }

  /** The tools this session sees. */
  pool() {
    return this.#core.pool;
  }

  describe(): SessionDescription {
    return describeSession(this.#core);
  }

  running(): readonly RunningCall[] {
    return runningCalls(this.#core);
  }

  /** Accept the blocks of a whole turn. @throws {GauntletError} as `acceptBlocks` */
  submit(submission: Omit<Submission, 'isClosed'>): Promise<SubmittedTurn> {
    return acceptBlocks(this.#core, { ...submission, isClosed: true });
  }

  /** All results of a turn, in block order. */
  collect(turn: SubmittedTurn, signal: AbortSignal): Promise<TurnReply> {
    return collectTurn(this.#core, turn, signal);
  }

  /** A turn's frames as they happen, ending with its `turn_end`. */
  turnFrames(turn: SubmittedTurn, signal: AbortSignal): AsyncIterable<readonly LoggedFrame[]> {
    return turnFrames(this.#core, turn, signal);
  }

  /** A connection's way of feeding turns. @param send For frames that are the connection's own. */
  feeder(send: (frame: ReplayFrame) => void): Feeder {
    return new Feeder(this.#core, send);
  }

  /** @throws {GauntletError} `invalid_request`, `forbidden`, `log_unavailable` */
  async updatePermissions(updates: readonly PermissionUpdate[]): Promise<WirePermissionContext> {
    return toWirePermissionContext(await this.#core.updatePermissions(updates));
  }

  /** Sentences about those of `rules` that stand in the session and can never decide anything. */
  ruleWarnings(rules: readonly string[]): readonly string[] {
    if (rules.length === 0) return [];
    const { context, services } = this.#core;
    const { tools, servers } = services.toolNames;
    const asked = new Set(rules.map((rule) => rule.trim()));
    return deadRules(context.permissions, [...tools, ...servers], asked)
      .filter(({ source }) => source === 'session')
      .map(({ rule, why }) => `Rule "${rule}" never decides anything: ${why}`);
  }

  permissions(): WirePermissionContext {
    return toWirePermissionContext(this.#core.context.permissions);
  }

  /** The decision about a call, with nothing run and nobody asked. */
  explain(name: string, input: Parameters<typeof explainCall>[2]) {
    return explainCall(this.#core, name, input);
  }

  /** Open questions, those of child sessions behind its own. */
  prompts() {
    const climbed = [...this.#core.climbed.values()].map(({ frame }) => frame);
    return [...this.#core.questions.open, ...climbed];
  }

  /** Answer a question; the first answer wins. @throws {GauntletError} as `answerPrompt` */
  answer(requestId: string, answer: PromptAnswer, by: string) {
    return answerPrompt(this.#core, requestId, answer, by);
  }

  /** Cancel one call, one turn, or all that waits and runs. @returns Their ids. @throws {GauntletError} `not_found` */
  cancel(target: CancelTarget = {}): readonly string[] {
    return cancelCalls(this.#core, target);
  }

  /** A person typed: running tools say what becomes of them, what is queued is cancelled. */
  interrupt(): void {
    interruptCalls(this.#core);
  }

  /** Frames after `after`; ends with the session. */
  read(after: number, options: ReadOptions): AsyncIterable<readonly LoggedFrame[]> {
    return this.#core.services.log.read(this.id, after, options);
  }

  bounds(): LogBounds {
    return this.#core.services.log.bounds(this.id) ?? { first: 1, head: 0 };
  }

  resultText(toolUseId: string, range: TextRange): Promise<ResultTextPage> {
    return resultTextPage(this.#core, toolUseId, range);
  }

  search(query: string): Promise<readonly SearchHit[]> {
    return searchResults(this.#core, query, this.#core.services.limits.searchHits);
  }

  /** What its tools changed in files, and the way back. */
  get changes(): SessionChanges {
    return sessionChanges(this.#core);
  }

  /** Its background tasks. */
  get tasks(): TaskList {
    return taskList(this.#core);
  }

  /** Someone who may answer is connected, until the returned function is called. */
  attach(): () => void {
    this.#core.attached++;
    let isAttached = true;
    return () => {
      if (isAttached) this.#core.attached--;
      isAttached = false;
    };
  }

  /** The tool list changed: viewers are told, and the next call sees it. */
  announceTools(): void {
    const { prefixSha256, builtInCount, mcpCount } = this.pool();
    this.#core.log.tell({
      type: 'tools_changed',
      prefix_sha256: prefixSha256,
      built_in_count: builtInCount,
      mcp_count: mcpCount,
    });
  }

  /** The server ends before these calls and tasks do. */
  stopWorking(): void {
    stopWorking(this.#core);
    void this.#core.tasks.stopAll(SERVER_STOPPED);
  }

  /** The session is removed: all that waits and runs ends. */
  end(): void {
    this.#core.executor.end('cancelled', 'Cancelled: the session was removed');
    void this.close();
  }

  /** Put aside what it knows, so that it can sleep. @throws {GauntletError} `log_unavailable` */
  save(): Promise<void> {
    return this.#core.save();
  }

  /** True when it has read files since that was put aside. */
  get hasNewReads(): boolean {
    return this.#core.context.readState !== this.#core.savedReads;
  }

  /** Put aside which files it has read: that stands nowhere in its log. @throws As `save`. */
  saveReads(): Promise<void> {
    return this.#core.saveReads();
  }

  /**
   * Let go of timers, retries and background tasks; what is open stands in the log.
   *
   * @returns Once the tasks have ended.
   */
  close(): Promise<void> {
    const ended = this.#core.tasks.stopAll({ status: 'killed' });
    this.#core.questions.suspend();
    this.#core.log.close();
    return ended;
  }
}
