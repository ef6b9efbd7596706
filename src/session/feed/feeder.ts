/**
 * Feeds turns from one connection: complete blocks, or the raw events of a streamed message. Frames only for this
 * connection go through `send`, all others through the log.
 */
import { GauntletError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import { newId } from '../../base/new-id.ts';
import type { TraceOrigin } from '../../base/tracing.ts';
import type { Approvals } from '../../wire/approval.ts';
import type { GivenBlock, IdScope } from '../../wire/block-schema.ts';
import type { AssistantMessage } from '../../wire/blocks.ts';
import type { ReplayFrame } from '../../wire/control-frames.ts';
import type { InputPartialFrame } from '../../wire/frames.ts';
import type { SessionCore } from '../session-core.ts';
import { approvalsByBlock } from '../questions/handed-in.ts';
import { drawIntent } from '../turn/drawn.ts';
import { scopeBlock, scopeId, type ScopedBlock } from '../turn/id-scope.ts';
import { acceptBlocks, openTurn, refuseToFeedChild } from '../turn/intake.ts';
import { loggedFrame } from '../turn/logged-frame.ts';
import { endedTurn, type Turn } from '../turn/turn.ts';
import { closeTurn } from '../turn/yield-results.ts';
import { type ChunkEvents, ChunkReader } from './chunk-reader.ts';
import { parsePartialObject } from './partial-json.ts';
import { StreamAssembler, type StreamingBlock } from './stream-assembler.ts';

/** Minimum time between two `input_partial` frames of one streaming block. */
const PARTIAL_INPUT_MS = 100;

/** What comes with a block. */
interface BlockEnvelope {
  /** The message as far as it was streamed; absent if the block came alone. */
  readonly message?: AssistantMessage;
  readonly approvals?: Approvals;
  /** Principal who sent it. */
  readonly by?: string;
  /** Trace that it belongs to; absent: linked to that of the connection. */
  readonly trace?: TraceOrigin | undefined;
}

/** Feeds a session's turns for one connection. */
export class Feeder {
  readonly #core: SessionCore;
  readonly #send: (frame: ReplayFrame) => void;
  readonly #trace: TraceOrigin | undefined;
  readonly #assembler: StreamAssembler;
  readonly #chunks = new ChunkReader();
  readonly #turns = new Set<Turn>();
  #hasFed = false;
  /** Turn of frames without a turn id. */
  #current: Turn | undefined;
  /** Id of the next turn that a frame without one opens. */
  #nextTurnId = newId('turn');
  /** Turns between `message_start` and `message_stop`; several messages may be streamed at once. */
  readonly #streaming = new Set<Turn>();
  /** The streaming turn whose events have no turn id, from its `message_start` until it ends. */
  #unnamed: Turn | undefined;
  #lastPartialMs = 0;
  readonly #idScope: IdScope;
  /** Complete blocks of each turn, by the turn's id. */
  readonly #blockCounts = new Map<string, number>();

  /** @param trace Trace of the connection. */
  constructor(core: SessionCore, send: (frame: ReplayFrame) => void, trace?: TraceOrigin) {
    this.#core = core;
    this.#trace = trace;
    this.#send = send;
    this.#assembler = new StreamAssembler();
    this.#idScope = core.opened.id_scope ?? 'session';
  }

  /** True once it has fed a turn: its connection is not only watching. */
  get hasFed(): boolean {
    return this.#hasFed;
  }

  /** Accept a complete block that came alone. @throws {GauntletError} as `acceptBlocks` and `scopeId` */
  async toolUse(
    turnId: string | undefined,
    given: GivenBlock,
    envelope: Pick<BlockEnvelope, 'approvals' | 'by' | 'trace'> = {},
  ): Promise<void> {
    refuseToFeedChild(this.#core);
    const index = this.#blockCounts.get(turnId ?? '') ?? 0;
    const scoped = scopeBlock(this.#idScope, given, { turnId, index, path: 'tool_use.id' });
    if (turnId !== undefined && this.#idScope === 'turn') this.#blockCounts.set(turnId, index + 1);
    await this.#accept(turnId, scoped, envelope);
  }

  async #accept(
    turnId: string | undefined,
    { block, providerId }: ScopedBlock,
    { message, approvals, by = '', trace = this.#trace }: BlockEnvelope,
  ): Promise<void> {
    const providerIds =
      this.#idScope === 'turn' ? new Map(providerId === undefined ? [] : [[block.id, providerId]]) : undefined;
    const sent = { blocks: [block], providerIds };
    const handed = approvalsByBlock(approvals, sent, by);
    const known = this.#core.ledger.call(block.id);
    const turn = known && turnId === undefined ? known.turn : this.#turn(this.#turnId(turnId));
    if (!known && !turn.isOpen) throw endedTurn(turn.id);
    const submission = { ...sent, turnId: turn.id, message, approvals: handed, trace, isClosed: false };
    const { replayed } = await acceptBlocks(this.#core, submission);
    for (const { resultSeq } of replayed) {
      if (resultSeq === undefined) continue;
      const frame = (await loggedFrame(this.#core, resultSeq))?.frame;
      if (frame?.type !== 'result') continue;
      const { tool_use_id, tool_result, call } = frame;
      this.#send({ type: 'replay', tool_use_id, tool_result, call: { ...call, replayed: true } });
    }
  }

  /** Process one raw streaming event. @throws {GauntletError} `invalid_request`, `conflict`, `payload_too_large` */
  async streamEvent(named: string | undefined, event: unknown): Promise<void> {
    refuseToFeedChild(this.#core);
    const turnId = this.#streamedTurnId(named);
    const step = this.#assembler.push(turnId, event, (call) => scopeId(this.#idScope, { ...call, turnId: named }));
    switch (step.type) {
      case 'nothing':
        return;
      case 'start':
        this.#startMessage(named);
        return;
      case 'stop':
        if (named !== undefined || this.#core.ledger.turn(turnId)) this.endTurn(turnId);
        return;
      case 'partial':
        this.#partial(this.#turn(turnId), step.block, step.isFirst);
        return;
      case 'block':
        await this.#accept(turnId, step, step);
    }
  }

  /** Convert a chunk of an OpenAI stream to events. @throws {GauntletError} `invalid_request` for a malformed chunk */
  eventsOf(named: string | undefined, chunk: unknown): ChunkEvents {
    return this.#chunks.read(named, chunk);
  }

  /** Close a turn to further blocks. @throws {GauntletError} `not_found` */
  endTurn(turnId: string): void {
    this.#end(this.#knownTurn(turnId));
  }

  /** Discard the turn's queued and running calls, after the model fell back. @throws {GauntletError} `not_found` */
  discard(turnId: string): void {
    const turn = this.#knownTurn(turnId);
    this.#core.executor.discardTurn(turn.executorTurn);
    this.#end(turn);
  }

  /** Handle the loss of the connection: its open turns end after a while, unless another connection feeds them. */
  close(): void {
    const open = [...this.#turns].filter((turn) => turn.isOpen);
    if (open.length === 0) return;
    setTimeout(() => {
      for (const turn of open) if (turn.feeder === this) this.#end(turn);
    }, this.#core.services.limits.turnFeederMs).unref();
  }

  /** Begin a message; one without a turn id ends the message before it that was never stopped. */
  #startMessage(named: string | undefined): void {
    const before = named === undefined ? this.#core.ledger.turn(this.#streamedTurnId(named)) : undefined;
    if (before && this.#streaming.has(before)) this.#finish(before);
    const turn = this.#turn(this.#streamedTurnId(named));
    this.#streaming.add(turn);
    if (named === undefined) this.#unnamed = turn;
  }

  /** Return the turn of an event. Frames of other turns may come between those without a turn id. */
  #streamedTurnId(named: string | undefined): string {
    return this.#turnId(named ?? this.#unnamed?.id);
  }

  /** Return the turn of a frame: the named one, else the connection's open one, else the next. */
  #turnId(named: string | undefined): string {
    return named ?? (this.#current?.isOpen ? this.#current.id : this.#nextTurnId);
  }

  /** Return the turn, opened if it is new, which this connection feeds from now on. */
  #turn(turnId: string): Turn {
    const turn = this.#core.ledger.turn(turnId) ?? openTurn(this.#core, turnId);
    if (turnId === this.#nextTurnId) this.#nextTurnId = newId('turn');
    turn.feedBy(this);
    this.#hasFed = true;
    this.#turns.add(turn);
    this.#current = turn;
    return turn;
  }

  #knownTurn(turnId: string): Turn {
    const turn = this.#core.ledger.turn(turnId);
    if (!turn) throw new GauntletError('not_found', `There is no turn "${turnId}" in this session`);
    return turn;
  }

  #end(turn: Turn): void {
    this.#chunks.reset(turn === this.#unnamed ? undefined : turn.id);
    this.#finish(turn);
  }

  #finish(turn: Turn): void {
    this.#assembler.reset(turn.id);
    this.#streaming.delete(turn);
    if (this.#unnamed === turn) this.#unnamed = undefined;
    this.#turns.delete(turn);
    this.#blockCounts.delete(turn.id);
    if (this.#current === turn) this.#current = undefined;
    closeTurn(this.#core, turn);
  }

  #partial(turn: Turn, block: StreamingBlock, isFirst: boolean): void {
    const nowMs = performance.now();
    const isTooSoon = !isFirst && nowMs - this.#lastPartialMs < PARTIAL_INPUT_MS;
    if (isTooSoon || !turn.isOpen || this.#core.ledger.call(block.id)) return;
    this.#lastPartialMs = nowMs;
    const place = this.#assembler.openBlocks(turn.id).findIndex(({ id }) => id === block.id);
    this.#core.log.tell(inputPartial(this.#core, { turnId: turn.id, index: turn.calls.length + place, block }));
  }
}

/** An incomplete block, and the index it will have. */
interface PartialBlock {
  readonly turnId: string;
  /** Index among the `tool_use` blocks of the turn, from 0. */
  readonly index: number;
  readonly block: StreamingBlock;
}

/** Build the `input_partial` frame of an incomplete block; unreadable parts of its JSON are left out. */
function inputPartial({ pool }: SessionCore, { turnId, index, block }: PartialBlock): InputPartialFrame {
  const partial_input = parsePartialObject(block.text);
  return {
    type: 'input_partial',
    turn_id: turnId,
    index,
    tool_use_id: block.id,
    name: block.name,
    partial_input,
    display: drawIntent(pool.lookup(block.name), block.name, partial_input as JsonValue),
  };
}
