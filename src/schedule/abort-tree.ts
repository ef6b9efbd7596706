/**
 * Cancellation is a tree: session, turn, call. Whoever owns a node ends it; only `turn_abort` climbs.
 */
import { GauntletError } from '../contract/errors.ts';

/** Why a call ends before its time, in words for the model. */
export type AbortCode = 'cancelled' | 'sibling_aborted' | 'discarded' | 'interrupted';

/** A node: aborted by its owner or with its parent. */
export interface AbortNode {
  readonly signal: AbortSignal;
  /** End this node and all below it; the first reason stays. */
  abort(code: AbortCode, message: string): void;
  /** A node below this one. */
  branch(): AbortNode;
  /** Let go of the parent; call it when the work of this node is over. */
  release(): void;
}

/** Make the root of a tree. */
export function abortTree(): AbortNode {
  return node(undefined);
}

function node(parent: AbortSignal | undefined): AbortNode {
  const controller = new AbortController();
  const follow = () => controller.abort(parent?.reason);
  if (parent?.aborted) follow();
  else parent?.addEventListener('abort', follow, { once: true });

  return {
    signal: controller.signal,
    abort: (code, message) => controller.abort(new GauntletError(code, message)),
    branch: () => node(controller.signal),
    release: () => parent?.removeEventListener('abort', follow),
  };
}
