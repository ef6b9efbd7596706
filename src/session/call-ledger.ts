/**
 * Index of the calls and turns of a session: prevents an id from running twice, and keeps each turn's end.
 *
 * Derived from the log; inputs and results are dropped once they are on disk. The turns that ended last stay in memory,
 * older ones are recalled on demand.
 */
import type { Seq } from '../wire/frames.ts';
import { abortTree } from '../base/abort-tree.ts';
import type { ExecutorTurn } from '../schedule/scheduled-call.ts';
import { type TurnBudget, turnBudget } from '../schedule/turn-budget.ts';
import type { SettledCallIndex } from './restore/settled-call-index.ts';
import { type Call, Turn } from './turn/turn.ts';

/** The calls and turns of one session. */
export class CallLedger {
  readonly #settledCalls: SettledCallIndex;
  readonly #maxKept: number;
  readonly #calls = new Map<string, Call>();
  readonly #turns = new Map<string, Turn>();
  /** Turns whose end is on disk but that no fact records yet, oldest first. */
  #unsaved: Turn[] = [];
  /** Number of those turns and their calls. */
  unsavedCount = 0;
  /** Turns recorded by facts that are still in memory, oldest first. */
  readonly #saved = new Set<Turn>();

  /** @param maxKept Maximum of turns and calls in memory that facts record. */
  constructor(settledCalls: SettledCallIndex, maxKept: number) {
    this.#settledCalls = settledCalls;
    this.#maxKept = maxKept;
  }

  call(toolUseId: string): Call | undefined {
    return this.#calls.get(toolUseId) ?? this.#recallCall(toolUseId);
  }

  turn(turnId: string): Turn | undefined {
    return this.#turns.get(turnId) ?? this.#recallTurn(turnId);
  }

  /** Turns whose end is not on disk. */
  get unended(): readonly Turn[] {
    return [...this.#turns.values()].filter(({ endSeq }) => endSeq === undefined);
  }

  /** Record that a turn's end, and with it all its results, are on disk. */
  end(turn: Turn, endSeq: Seq): void {
    turn.logged(endSeq);
    this.#unsaved.push(turn);
    this.unsavedCount += weightOf([turn]);
  }

  /** Turns that the next save must record. */
  get unsaved(): readonly Turn[] {
    return this.#unsaved;
  }

  /** Record that facts contain these turns; those that ended last stay in memory. */
  saved(turns: readonly Turn[]): void {
    const isSaved = new Set(turns);
    this.#unsaved = this.#unsaved.filter((turn) => !isSaved.has(turn));
    this.unsavedCount = weightOf(this.#unsaved);
    for (const turn of turns) this.#saved.add(turn);
    this.#evictSaved();
  }

  addTurn(id: string, executorTurn: ExecutorTurn, budget: TurnBudget): Turn {
    const turn = new Turn(id, executorTurn, budget);
    this.#turns.set(id, turn);
    return turn;
  }

  addCall(call: Call): Call {
    this.#calls.set(call.toolUseId, call);
    return call;
  }

  /**
   * Remove calls whose acceptance failed, and closed turns without other calls.
   *
   * @returns Turns that lost a call and continue without it.
   */
  forget(calls: readonly Call[]): readonly Turn[] {
    const turns = new Set(calls.flatMap((call) => call.forget()));
    for (const { toolUseId } of calls) this.#calls.delete(toolUseId);
    for (const turn of turns) {
      if (turn.isOpen || turn.calls.length + turn.replayed.length > 0) continue;
      this.#turns.delete(turn.id);
      turn.executorTurn.node.release();
      turns.delete(turn);
    }
    return [...turns];
  }

  #recallCall(toolUseId: string): Call | undefined {
    const known = this.#settledCalls.call(toolUseId);
    if (!known) return undefined;
    const { turnId, name, index, parentId, ...state } = known;
    const turn = this.turn(turnId) ?? this.#remember(turnId, 0);
    return this.addCall(turn.addRecalled({ toolUseId, name, index, parentId }, state));
  }

  #recallTurn(turnId: string): Turn | undefined {
    const endSeq = this.#settledCalls.turnEnd(turnId);
    return endSeq === undefined ? undefined : this.#remember(turnId, endSeq);
  }

  /** Restore an ended turn into memory, until the next save. */
  #remember(turnId: string, endSeq: Seq): Turn {
    this.#evictSaved();
    const turn = this.addTurn(turnId, { node: abortTree() }, turnBudget(0));
    turn.end();
    turn.logged(endSeq);
    this.#saved.add(turn);
    return turn;
  }

  #evictSaved(): void {
    let kept = weightOf(this.#saved);
    for (const turn of this.#saved) {
      if (kept <= this.#maxKept) break;
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
function weightOf(turns: Iterable<Turn>): number {
  let weight = 0;
  for (const { calls, inner } of turns) weight += 1 + calls.length + inner.length;
  return weight;
}
