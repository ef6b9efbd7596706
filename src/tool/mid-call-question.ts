/** Questions that a call asks people while it runs. */
import type { Display } from '../wire/display.ts';

/** A question for values, or for a yes or a no. */
export interface MidCallQuestion {
  /** One sentence that names the asker and what is asked for. */
  readonly title: string;
  readonly description: string;
  /** With a `form`, the values of the answer are under its key. */
  readonly display: Display;
  /** The call's input, as the question shows it. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly warnings?: readonly string[];
  /**
   * Checks the values of a yes. The question stays open if they are wrong.
   *
   * @throws {GauntletError} `invalid_request`
   */
  check?(updatedInput: Readonly<Record<string, unknown>> | undefined): void;
}

/** End of a question, for the gate or the call that asked it. */
export type QuestionEnd =
  | { readonly behavior: 'allow'; readonly updatedInput?: Readonly<Record<string, unknown>> }
  | {
      readonly behavior: 'deny';
      readonly message: string;
      /** True if a person said no; else nobody answered. */
      readonly isAnswer?: boolean;
    };

/**
 * Asks whoever may answer. Questions of one call are asked one after the other.
 *
 * @param signal Withdraws the question, as the end of the call does; the promise then rejects.
 */
export type AskMidCall = (question: MidCallQuestion, signal?: AbortSignal) => Promise<QuestionEnd>;
