/**
 * Calls that a tool makes of its own: blocks that take the whole path which the tool's own call took.
 */
import type { NewMessage, ToolResultBlock } from '../wire/blocks.ts';
import type { JsonValue } from '../base/json.ts';
import type { CallErrorCode } from '../base/errors.ts';
import type { CallStatus } from '../wire/frames.ts';
import type { PermissionMode } from '../wire/permission-context.ts';

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

/** How a child session differs from the session of the call that opens it. It may do less, never more. */
export interface ChildOptions {
  readonly title?: string;
  /** One that lets no more through than the mode of the session; absent: the same. */
  readonly mode?: PermissionMode;
  /** Rules beside those of the session. */
  readonly rules?: { readonly ask?: readonly string[]; readonly deny?: readonly string[] };
}

/** A session that belongs to the call that opened it, and ends with it. */
export interface ChildSession {
  readonly sessionId: string;
  /**
   * Runs a block as a call of the child: as `RunInnerCall`, but with the frames in the log of the child, and with the
   * block's own `id`, which no other call of the child may have.
   */
  readonly run: RunInnerCall;
  /** Ends what runs in it. Its log stays until its parent is deleted. */
  end(): Promise<void>;
}

/**
 * Begins a child session: its frames are progress of this call (`{type: "agent", frame}`), and its questions are asked
 * wherever those of this session are.
 *
 * @throws {GauntletError} `forbidden` for a mode beyond the session's, `invalid_request` for a rule that is none,
 *   `resource_exhausted` for too many children, and the reason where this call was aborted or has ended.
 */
export type OpenChild = (options?: ChildOptions) => Promise<ChildSession>;
