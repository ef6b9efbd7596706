/**
 * How questions were settled, so that a late answer is told: the latest in memory, older ones as facts.
 */
import type { Settled } from '../../permissions/questions.ts';
import { questionFact, type Fact, type SettledCallIndex } from '../restore/settled-call-index.ts';

/** Settled questions by request id. */
export class SettledQuestions {
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
