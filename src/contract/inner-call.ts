/**
 * Calls that a tool makes of its own: blocks that take the whole path which the tool's own call took.
 */
import type { JsonValue, NewMessage, ToolResultBlock } from './blocks.ts';
import type { CallErrorCode } from './errors.ts';
import type { CallStatus } from './frames.ts';

/** A block that a tool wants run. */
export interface InnerBlock {
  /** Name or alias of a tool that the session sees. */
  readonly name: string;
  readonly input: JsonValue;
  /** Ends the id of the call, where no other call has that id: a model's own id stays recognisable in the frames. */
  readonly id?: string;
}

/** How one inner call is run. */
export interface InnerCallOptions {
  /** Cancels this inner call alone. */
  readonly signal?: AbortSignal;
}

/** What an inner call came to. */
export interface InnerResult {
  /** Made by the server, unique in the session. A call that was refused for a bound leaves no frame under it. */
  readonly toolUseId: string;
  readonly status: CallStatus;
  /** Absent exactly when `status` is `ok`. */
  readonly errorCode?: CallErrorCode;
  /** What a model would get, inside the budget of the tool. */
  readonly content: ToolResultBlock['content'];
  /** The output of the tool that ran, or what a hook put in its place; absent where the call failed. */
  readonly data?: unknown;
  /** What the tool and hooks add to a conversation; the hooks' part reaches the model of the outer call by itself. */
  readonly newMessages?: readonly NewMessage[];
}

/**
 * Runs a block as a call of its own: with its own gate, frames, hooks and budget, beside or after the other inner calls
 * of the same call, as their tools allow.
 *
 * @returns What it came to, also where it failed or was denied.
 * @throws {GauntletError} The reason, where the outer call was aborted or has ended.
 */
export type RunInnerCall = (block: InnerBlock, options?: InnerCallOptions) => Promise<InnerResult>;
