/**
 * The connections to all servers, and which of them each principal uses.
 *
 * A connection without tokens is shared. A principal with tokens for a server has a connection of its own in its place,
 * so that nobody acts with the tokens of another.
 */
import type { Tool } from '../tool/tool.ts';
import type { McpServer } from './server.ts';

/** Connections of all principals. */
export class ServerSet {
  readonly #order: readonly string[];
  readonly #onToolsChanged: () => void;
  readonly #shared = new Map<string, McpServer>();
  readonly #own = new Map<string, Map<string, McpServer>>();
  /** Lists of tools: the shared one under `undefined`, and those of principals with connections of their own. */
  readonly #lists = new Map<string | undefined, readonly Tool[]>([[undefined, Object.freeze([])]]);

  /** @param order Names of the servers, in the order of their tools. */
  constructor(order: readonly string[], onToolsChanged: () => void) {
    this.#order = order;
    this.#onToolsChanged = onToolsChanged;
  }

  /** Add the connection that principals without tokens share. */
  share(name: string, server: McpServer): void {
    this.#shared.set(name, server);
  }

  /** Give a principal a connection of its own. @returns The one that it had before. */
  assign(principal: string, name: string, server: McpServer): McpServer | undefined {
    const servers = this.#own.get(principal) ?? new Map<string, McpServer>();
    this.#own.set(principal, servers);
    const former = servers.get(name);
    servers.set(name, server);
    this.collect();
    return former;
  }

  /** Take a principal's own connection away. @returns It, if there was one. */
  release(principal: string, name: string): McpServer | undefined {
    const former = this.#own.get(principal)?.get(name);
    this.#own.get(principal)?.delete(name);
    this.collect();
    return former;
  }

  /** Find the connection that a principal uses. */
  find(name: string, principal?: string): McpServer | undefined {
    return (principal === undefined ? undefined : this.#own.get(principal)?.get(name)) ?? this.#shared.get(name);
  }

  /** Report whether a principal has a connection of its own to a server. */
  hasOwn(name: string, principal: string): boolean {
    return this.#own.get(principal)?.has(name) === true;
  }

  /** Return the tools that a principal sees; the same array until something changed. */
  tools(principal?: string): readonly Tool[] {
    return this.#lists.get(principal) ?? this.#lists.get(undefined) ?? [];
  }

  /** Return all connections. */
  all(): readonly McpServer[] {
    return [...this.#shared.values(), ...[...this.#own.values()].flatMap((servers) => [...servers.values()])];
  }

  /** Collect the tools again, and announce lists that changed. */
  collect(): void {
    let isChanged = false;
    for (const principal of [undefined, ...this.#own.keys()]) {
      const tools = this.#order.flatMap((name) => this.find(name, principal)?.tools() ?? []);
      const known = this.#lists.get(principal);
      if (known?.length === tools.length && tools.every((tool, index) => tool === known[index])) continue;
      this.#lists.set(principal, Object.freeze(tools));
      isChanged = true;
    }
    if (isChanged) this.#onToolsChanged();
  }
}
