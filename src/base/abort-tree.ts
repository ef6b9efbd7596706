/**
 * Cancellation is a tree: session, turn, call. Whoever owns a node ends it and all below it; nothing climbs.
 *
 * A node makes its signal when somebody asks for it: most turns end without anyone having listened.
 */
import { GauntletError } from './errors.ts';

/** Why a call ends before its time. */
export type AbortCode = 'cancelled' | 'sibling_aborted' | 'discarded' | 'interrupted';

/** A node: aborted by its owner or with its parent. */
export interface AbortNode {
  readonly signal: AbortSignal;
  /** Why it was aborted; undefined while it was not. */
  readonly abortedBy: { readonly code: AbortCode; readonly message: string } | undefined;
  /** End this node and all below it; each keeps its first reason. */
  abort(code: AbortCode, message: string): void;
  /** A node below this one. */
  branch(): AbortNode;
  /** Let go of the parent; call it when the work of this node is over. */
  release(): void;
}

/** Make the root of a tree. */
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
    // What begins below this node from now on is aborted from its birth.
    for (const child of this.#children ?? []) child.abort(code, message);
  }

  branch(): AbortNode {
    return new Node(this);
  }

  release(): void {
    if (this.#parent) this.#parent.#drop(this);
  }

  /** A turn is remembered long after its calls: without them it keeps no list of them. */
  #drop(child: Node): void {
    this.#children?.delete(child);
    if (this.#children?.size === 0) this.#children = undefined;
  }
}

function errorOf({ code, message }: NonNullable<AbortNode['abortedBy']>): GauntletError {
  return new GauntletError(code, message);
}
