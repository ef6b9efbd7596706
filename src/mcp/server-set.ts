/**
 * The connections to all servers, and which of them each principal uses.
 *
 * A connection without tokens is shared. A principal with tokens for a server has a connection of its own in its place,
 * so that nobody acts with the tokens of another.
 */
import type { Tool } from '../tool/tool.ts';
import type { ServerOffer } from './offers.ts';
import type { McpServer } from './server.ts';

interface ResourceListener {
  readonly principal: string;
  readonly onChange: (server: string) => void;
}

/** Connections of all principals. */
export class ServerSet {
  readonly #order: readonly string[];
  readonly #onChange: () => void;
  readonly #shared = new Map<string, McpServer>();
  readonly #own = new Map<string, Map<string, McpServer>>();
  /** Lists of tools: the shared one under `undefined`, and those of principals with connections of their own. */
  readonly #lists = new Map<string | undefined, readonly Tool[]>([[undefined, Object.freeze([])]]);

  readonly #resourceListeners = new Set<ResourceListener>();
  readonly #offers = new Map<string | undefined, readonly ServerOffer[]>();

  /** @param order Names of the servers, in the order of their tools. @param onChange Called when a list changed. */
  constructor(order: readonly string[], onChange: () => void) {
    this.#order = order;
    this.#onChange = onChange;
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

  /** Return what the servers offer a principal beside tools; the same array until something changed. */
  offers(principal?: string): readonly ServerOffer[] {
    return this.#offers.get(principal) ?? this.#offers.get(undefined) ?? [];
  }

  /** As `McpConnections.onResourcesChanged`. */
  onResourcesChanged(principal: string, onChange: (server: string) => void): () => void {
    const listener = { principal, onChange };
    this.#resourceListeners.add(listener);
    return () => void this.#resourceListeners.delete(listener);
  }

  /** Tell those who use a connection that the server's resources may have changed. */
  announceResources(name: string, server: McpServer): void {
    for (const { principal, onChange } of [...this.#resourceListeners])
      if (this.find(name, principal) === server) onChange(name);
  }

  /** Return all connections to one server. */
  named(name: string): readonly McpServer[] {
    return [this.#shared, ...this.#own.values()].flatMap((servers) => servers.get(name) ?? []);
  }

  /** Return all connections. */
  all(): readonly McpServer[] {
    return [...this.#shared.values(), ...[...this.#own.values()].flatMap((servers) => [...servers.values()])];
  }

  /** Collect tools and offers again, and announce lists that changed. */
  collect(): void {
    let isChanged = false;
    for (const principal of [undefined, ...this.#own.keys()]) {
      const servers = this.#order.flatMap((name) => this.find(name, principal) ?? []);
      const tools = servers.flatMap((server) => server.tools());
      const offers = servers.map((server) => server.offer());
      isChanged = update(this.#lists, principal, tools) || isChanged;
      isChanged = update(this.#offers, principal, offers) || isChanged;
    }
    if (isChanged) this.#onChange();
  }
}

/** Replace a list whose entries changed. @returns True if they did. */
function update<Key, Entry>(lists: Map<Key, readonly Entry[]>, key: Key, entries: readonly Entry[]): boolean {
  const known = lists.get(key);
  if (known?.length === entries.length && entries.every((entry, index) => entry === known[index])) return false;
  lists.set(key, Object.freeze(entries));
  return true;
}
