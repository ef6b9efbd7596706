/**
 * A session, as its doors see it: blocks go in, frames come out, questions are answered.
 */
import type { JsonValue, ToolUseBlock } from '../contract/blocks.ts';
import type { PermissionRequestFrame, Seq } from '../contract/frames.ts';
import {
  type PermissionUpdate,
  toWirePermissionContext,
  type WirePermissionContext,
} from '../contract/permission-context.ts';
import type { SessionContext } from '../contract/session-context.ts';
import type { LogBounds, LoggedFrame, ReadOptions } from '../log/frame-log.ts';
import { applyUpdates } from '../permissions/context.ts';
import type { WireExplanation } from '../permissions/explain.ts';
import type { QuestionAnswer, Settled } from '../permissions/questions.ts';
import type { ToolPool } from '../pool/tool-pool.ts';
import type { ScheduledCall } from '../schedule/scheduled-call.ts';
import { GauntletError } from '../contract/errors.ts';
import type { AskPolicy } from './call-ledger.ts';
import { describeSession, runningCalls, type RunningCall, type SessionDescription } from './describe-session.ts';
import { explainCall } from './explain-call.ts';
import { Feeder, type ReplayFrame } from './feeder.ts';
import { acceptBlocks, type SubmittedTurn } from './intake.ts';
import type { SessionCore } from './session-core.ts';
import type { TextRange } from './session-services.ts';
import { resultTextPage, type ResultTextPage, searchResults, type SearchHit } from './stored-result.ts';
import { collectTurn, turnFrames, type TurnReply } from './turn-reply.ts';

/** An answer to a question, with what it adds to the session's permissions. */
export interface PromptAnswer extends QuestionAnswer {
  readonly updatedPermissions?: readonly PermissionUpdate[];
}

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

  get context(): SessionContext {
    return this.#core.context;
  }

  get epoch(): string {
    return this.#core.services.log.epoch;
  }

  /** True while a call runs or waits, a frame is on its way, or somebody watches who may answer. */
  get isInUse(): boolean {
    return this.#core.executor.isBusy || this.#core.attached > 0 || !this.isLogged;
  }

  /** True when all that was yielded is on disk. */
  get isLogged(): boolean {
    return this.#core.leaving === 0 && this.#core.log.isSettled;
  }

  /** True once another process runs this session: it must be opened again. */
  get isTakenOver(): boolean {
    return this.#core.log.isTakenOver;
  }

  /** Somebody watches who may answer. */
  get isWatched(): boolean {
    return this.#core.attached > 0;
  }

  /** Ids of calls whose work goes on; those that wait for an answer, and those behind them, do not work. */
  get working(): readonly string[] {
    const waiting = new Set(this.prompts().map(({ tool_use_id }) => tool_use_id));
    return ids(this.#core.executor.unyielded.filter(({ state }) => state === 'executing')).filter((id) => !waiting.has(id));
  }

  /** The tools this session sees. */
  pool(): ToolPool {
    return this.#core.services.poolFor(this.#core.context);
  }

  describe(): SessionDescription {
    return describeSession(this.#core);
  }

  running(): readonly RunningCall[] {
    return runningCalls(this.#core);
  }

  /** Accept the blocks of a whole turn. @throws {GauntletError} as `acceptBlocks` */
  submit(
    submission: AskPolicy & { readonly turnId?: string; readonly blocks: readonly ToolUseBlock[] },
  ): Promise<SubmittedTurn> {
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
    await this.#core.updatePermissions(updates);
    return this.permissions();
  }

  permissions(): WirePermissionContext {
    return toWirePermissionContext(this.#core.context.permissions);
  }

  /** The decision about a call, with nothing run and nobody asked. */
  explain(name: string, input: JsonValue): Promise<WireExplanation> {
    return explainCall(this.#core, name, input);
  }

  /** Open questions, oldest first. */
  prompts(): readonly PermissionRequestFrame[] {
    return this.#core.questions.open;
  }

  /**
   * Answer a question; the first answer wins.
   *
   * Rules it brings are tried on the other open questions.
   *
   * @throws {GauntletError} `not_found`, `conflict`, `invalid_request`, `forbidden`
   */
  async answer(requestId: string, answer: PromptAnswer, by: string): Promise<Settled> {
    const updates = answer.updatedPermissions ?? [];
    // Tried first: updates that cannot be made refuse the answer while the question still stands.
    applyUpdates(this.context.permissions, updates);
    const settled = await this.#core.questions.answer(requestId, answer, by);
    if (updates.length === 0) return settled;
    await this.#core.updatePermissions(updates);
    await this.#core.questions.rejudgeAll();
    return settled;
  }

  /** Cancel one call, one turn, or all that waits and runs. @returns Their ids. @throws {GauntletError} `not_found` */
  cancel(target: { readonly toolUseId?: string; readonly turnId?: string } = {}): readonly string[] {
    const { executor } = this.#core;
    const message = 'Cancelled by the client';
    if (target.toolUseId !== undefined) return ids(executor.cancel(this.#scheduled(target.toolUseId), 'cancelled', message));
    if (target.turnId === undefined) return ids(executor.cancel(executor.unyielded, 'cancelled', message));
    const turn = this.#core.ledger.turn(target.turnId);
    if (!turn) throw new GauntletError('not_found', `There is no turn "${target.turnId}" in this session`);
    return ids(executor.cancelTurn(turn.executorTurn, 'cancelled', message));
  }

  /** A person typed: running tools say what becomes of them, what is queued is cancelled. */
  interrupt(): void {
    const { cancelled, continuing } = this.#core.executor.interrupt();
    this.#core.log.tell({
      type: 'notice',
      level: 'info',
      code: 'interrupted',
      message: `Interrupted: ${cancelled.length} cancelled, ${continuing.length} continuing`,
      cancelled: ids(cancelled),
      continuing: ids(continuing),
    });
  }

  /** Frames after `after`; ends with the session. */
  read(after: Seq, options: ReadOptions): AsyncIterable<readonly LoggedFrame[]> {
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

  /** The server ends before these calls do. */
  stopWorking(): void {
    const { executor } = this.#core;
    executor.halt();
    const working = new Set(this.working);
    const calls = executor.unyielded.filter(({ journey }) => working.has(journey.toolUseId));
    executor.cancel(calls, 'interrupted', 'Interrupted: the server is shutting down');
  }

  /** The session is removed: all that waits and runs ends. */
  end(): void {
    this.#core.executor.end('cancelled', 'Cancelled: the session was removed');
    this.close();
  }

  /** Let go of timers and retries; what is open stands in the log. */
  close(): void {
    this.#core.questions.suspend();
    this.#core.log.close();
  }

  #scheduled(toolUseId: string): readonly ScheduledCall[] {
    const record = this.#core.ledger.call(toolUseId);
    if (!record) throw new GauntletError('not_found', `There is no call "${toolUseId}" in this session`);
    return record.scheduled ? [record.scheduled] : [];
  }
}

function ids(calls: readonly ScheduledCall[]): readonly string[] {
  return calls.map(({ journey }) => journey.toolUseId);
}
