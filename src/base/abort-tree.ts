/**
 * The tree of cancellation: session, turn, call. Aborting a node aborts everything below it, and nothing above.
 *
 * A node creates its signal on first access: most turns end without a listener.
 */
import { GauntletError } from './errors.ts';

/** Reason for the early end of a call. */
export type AbortCode = 'cancelled' | 'sibling_aborted' | 'discarded' | 'interrupted';

/** A node, aborted by its owner or with its parent. */
export interface AbortNode {
  readonly signal: AbortSignal;
  /** Reason of the abort; `undefined` before one. */
  readonly abortedBy: { readonly code: AbortCode; readonly message: string } | undefined;
  /** Abort this node and all below it; each keeps its first reason. */
  abort(code: AbortCode, message: string): void;
  /** Create a child node. */
  branch(): AbortNode;
  /** Detach from the parent; call it when the work of this node is over. */
  release(): void;
}

/** Create the root of a tree. */
export function abortTree(): AbortNode {
  return new Node(undefined);
}

class Node implements AbortNode {
  readonly #parent: Node | undefined;
  #children: Set<Node> | undefined;
  #controller: AbortController | undefined;
  abortedBy: AbortNode['abortedBy'];

  constructor(parent: Node | undefined) {
    this.#parent = parent;
    this.abortedBy = parent ? parent.abortedBy : undefined;
    if (parent) (parent.#children ??= new Set()).add(this);
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.abortedBy) this.#controller.abort(errorOf(this.abortedBy));
    }
    return this.#controller.signal;
  }

  abort(code: AbortCode, message: string): void {
    if (this.abortedBy) return;
    this.abortedBy = { code, message };
    this.#controller?.abort(errorOf(this.abortedBy));
    // Nodes created below this one later are aborted from the start.
    for (const child of this.#children ?? []) child.abort(code, message);
  }

  branch(): AbortNode {
    return new Node(this);
  }

  release(): void {
    if (this.#parent) this.#parent.#drop(this);
  }

  /** Turns outlive their calls, so an empty set is dropped as well. */
  #drop(child: Node): void {
    this.#children?.delete(child);
    if (this.#children?.size === 0) this.#children = undefined;
  }
}

function errorOf({ code, message }: NonNullable<AbortNode['abortedBy']>): GauntletError {
  return new GauntletError(code, message);
}
