/**
 * Index of the calls and turns of a session: prevents an id from running twice, and keeps each turn's end.
 *
 * Derived from the log; inputs and results are dropped once they are on disk. The turns that ended last stay in memory,
 * older ones are recalled on demand.
 */
import type { ToolUseBlock } from '../wire/blocks.ts';
import type { Seq } from '../wire/frames.ts';
import { abortTree } from '../base/abort-tree.ts';
import type { ExecutorTurn } from '../schedule/scheduled-call.ts';
import { type TurnBudget, turnBudget } from '../schedule/turn-budget.ts';
import { type AskPolicy, type CallRecord, endedTurn, type TurnRecord } from './call-record.ts';
import type { SettledCallIndex } from './restore/settled-call-index.ts';

/** The calls and turns of one session. */
export class CallLedger {
  readonly #settledCalls: SettledCallIndex;
  readonly #mostKept: number;
  readonly #calls = new Map<string, CallRecord>();
  readonly #turns = new Map<string, TurnRecord>();
  /** Turns whose end is on disk but that no fact records yet, oldest first. */
  #unsaved: TurnRecord[] = [];
  /** Number of those turns and their calls. */
  unsavedCount = 0;
  /** Turns recorded by facts that are still in memory, oldest first. */
  readonly #saved = new Set<TurnRecord>();

  /** @param mostKept Maximum of turns and calls in memory that facts record. */
  constructor(settledCalls: SettledCallIndex, mostKept: number) {
    this.#settledCalls = settledCalls;
    this.#mostKept = mostKept;
  }

  call(toolUseId: string): CallRecord | undefined {
    return this.#calls.get(toolUseId) ?? this.#recallCall(toolUseId);
  }

  turn(turnId: string): TurnRecord | undefined {
    return this.#turns.get(turnId) ?? this.#recallTurn(turnId);
  }

  /** Turns whose end is not on disk. */
  get unended(): readonly TurnRecord[] {
    return [...this.#turns.values()].filter(({ endSeq }) => endSeq === undefined);
  }

  /** Record that a turn's end, and with it all its results, are on disk. */
  end(turn: TurnRecord, endSeq: Seq): void {
    turn.endSeq = endSeq;
    this.#unsaved.push(turn);
    this.unsavedCount += weightOf([turn]);
  }

  /** Turns that the next save must record. */
  get unsaved(): readonly TurnRecord[] {
    return this.#unsaved;
  }

  /** Record that facts contain these turns; those that ended last stay in memory. */
  saved(turns: readonly TurnRecord[]): void {
    const isSaved = new Set(turns);
    this.#unsaved = this.#unsaved.filter((turn) => !isSaved.has(turn));
    this.unsavedCount = weightOf(this.#unsaved);
    for (const turn of turns) this.#saved.add(turn);
    this.#letGo();
  }

  addTurn(id: string, executorTurn: ExecutorTurn, budget: TurnBudget): TurnRecord {
    const turn: TurnRecord = {
      id,
      executorTurn,
      budget,
      state: 'open',
      calls: [],
      inner: [],
      replayed: [],
      unyielded: 0,
      innerUnyielded: 0,
    };
    this.#turns.set(id, turn);
    return turn;
  }

  /** @throws {GauntletError} `conflict` if the turn takes no more blocks. */
  addCall(turn: TurnRecord, block: ToolUseBlock, name: string, askPolicy: AskPolicy): CallRecord {
    if (turn.state !== 'open') throw endedTurn(turn.id);
    const record: CallRecord = { toolUseId: block.id, name, turn, index: turn.calls.length, askPolicy, block };
    this.#calls.set(block.id, record);
    turn.calls.push(record);
    turn.unyielded++;
    return record;
  }

  /** Add an inner call to its turn, which need not be open. @param index As in the record. */
  addInnerCall(
    turn: TurnRecord,
    block: ToolUseBlock,
    given: Pick<CallRecord, 'name' | 'index' | 'parentId' | 'askPolicy'>,
  ): CallRecord {
    const record: CallRecord = { toolUseId: block.id, turn, block, ...given };
    this.#calls.set(block.id, record);
    turn.inner.push(record);
    turn.innerUnyielded++;
    return record;
  }

  /** Let a turn repeat the result of a known call, and wait for it if necessary. */
  repeat(turn: TurnRecord, record: CallRecord): void {
    if (record.turn === turn || turn.replayed.includes(record)) return;
    turn.replayed.push(record);
    if (record.summary) return;
    (record.joinedBy ??= []).push(turn);
    turn.unyielded++;
  }

  /**
   * Remove calls whose acceptance failed, and closed turns without other calls.
   *
   * @returns Turns that lost a call and continue without it.
   */
  forget(records: readonly CallRecord[]): readonly TurnRecord[] {
    const turns = new Set<TurnRecord>();
    for (const record of records) {
      record.isForgotten = true;
      this.#calls.delete(record.toolUseId);
      if (remove(record.turn.inner, record) && !record.summary) record.turn.innerUnyielded--;
      for (const turn of [record.turn, ...(record.joinedBy ?? [])]) {
        turns.add(turn);
        const isOwn = remove(turn.calls, record);
        if ((remove(turn.replayed, record) || isOwn) && !record.summary) turn.unyielded--;
      }
    }
    for (const turn of turns) {
      if (turn.state === 'open' || turn.calls.length + turn.replayed.length > 0) continue;
      this.#turns.delete(turn.id);
      turn.executorTurn.node.release();
      turns.delete(turn);
    }
    return [...turns];
  }

  #recallCall(toolUseId: string): CallRecord | undefined {
    const known = this.#settledCalls.call(toolUseId);
    if (!known) return undefined;
    const { turnId, ...rest } = known;
    const turn = this.turn(turnId) ?? this.#remember(turnId, 0);
    const record: CallRecord = { toolUseId, turn, askPolicy: {}, ...rest };
    (rest.parentId === undefined ? turn.calls : turn.inner).push(record);
    this.#calls.set(toolUseId, record);
    return record;
  }

  #recallTurn(turnId: string): TurnRecord | undefined {
    const endSeq = this.#settledCalls.turnEnd(turnId);
    return endSeq === undefined ? undefined : this.#remember(turnId, endSeq);
  }

  /** Restore an ended turn into memory, until the next save. */
  #remember(turnId: string, endSeq: Seq): TurnRecord {
    this.#letGo();
    const turn = this.addTurn(turnId, { node: abortTree() }, turnBudget(0));
    turn.state = 'ended';
    turn.endSeq = endSeq;
    this.#saved.add(turn);
    return turn;
  }

  #letGo(): void {
    let kept = weightOf(this.#saved);
    for (const turn of this.#saved) {
      if (kept <= this.#mostKept) break;
      kept -= weightOf([turn]);
      this.#saved.delete(turn);
      this.#turns.delete(turn.id);
      for (const { toolUseId } of [...turn.calls, ...turn.inner]) this.#calls.delete(toolUseId);
    }
  }
}

/**
 * Count records in memory. Summed in a loop: a log that was never saved may have more turns than a spread call accepts.
 */
function weightOf(turns: Iterable<TurnRecord>): number {
  let weight = 0;
  for (const { calls, inner } of turns) weight += 1 + calls.length + inner.length;
  return weight;
}

/** @returns True if it was present. */
function remove<Item>(items: Item[], item: Item): boolean {
  const place = items.indexOf(item);
  if (place !== -1) items.splice(place, 1);
  return place !== -1;
}
