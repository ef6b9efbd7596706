/**
 * The MCP sessions of clients of the 2025-11-25 revision: bounded in number, and ended when they are unused.
 *
 * An MCP session is the state of one client's connection. The session of Gauntlet that it uses outlives it.
 */
import type { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { GauntletError } from '../../src/base/errors.ts';

/** MCP sessions of one principal, and of all. Each holds a server of its own, of some kilobytes. */
export const MAX_PRINCIPAL_SESSIONS = 100;
const MAX_SESSIONS = 1_000;

/** Requests of one MCP session that wait for their replies, its stream included. */
const MAX_PENDING_REQUESTS = 256;

/** An MCP session without a request and without a stream ends after this time; its client begins another one. */
const IDLE_MS = 30 * 60_000;

/** One MCP session. */
export interface McpSession {
  readonly id: string;
  readonly principal: string;
  /** The address that it was begun at. */
  readonly address: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
}

interface Entry {
  readonly session: McpSession;
  /** Requests without a reply, and open streams. */
  pending: number;
  usedMs: number;
}

/** All MCP sessions of this server. */
export class McpSessions {
  /** The one used last stands last. */
  readonly #entries = new Map<string, Entry>();
  readonly #idleMs: number;
  readonly #timer: NodeJS.Timeout;

  /** @param idleMs Time after which an unused session ends. */
  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
    this.#timer = setInterval(() => this.#endIdle(), Math.min(60_000, idleMs)).unref();
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Find a session of a principal that was begun at an address. */
  find(id: string, principal: string, address: string): McpSession | undefined {
    const session = this.#entries.get(id)?.session;
    return session?.principal === principal && session.address === address ? session : undefined;
  }

  /**
   * Make room for another session of a principal: the one unused for longest ends.
   *
   * @throws {GauntletError} `rate_limited` if all are in use.
   */
  makeRoom(principal: string): void {
    const all = [...this.#entries.values()];
    const own = all.filter(({ session }) => session.principal === principal);
    const full = own.length >= MAX_PRINCIPAL_SESSIONS ? own : all.length >= MAX_SESSIONS ? all : undefined;
    if (full === undefined) return;
    const unused = full.find(({ pending }) => pending === 0);
    if (unused === undefined) {
      const details = { reason: 'mcp_sessions' };
      throw new GauntletError('rate_limited', 'Too many MCP sessions are in use: end one first', { details });
    }
    this.#end(unused);
  }

  add(session: McpSession): void {
    this.#entries.set(session.id, { session, pending: 0, usedMs: performance.now() });
  }

  remove(id: string): void {
    this.#entries.delete(id);
  }

  /** Run one request of a session. @throws {GauntletError} `rate_limited` if too many wait. */
  async use<Result>({ id }: McpSession, work: () => Promise<Result>): Promise<Result> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return work();
    if (entry.pending >= MAX_PENDING_REQUESTS) {
      const details = { reason: 'mcp_requests' };
      throw new GauntletError('rate_limited', 'Too many requests of this MCP session wait for a reply', { details });
    }
    entry.pending += 1;
    try {
      return await work();
    } finally {
      entry.pending -= 1;
      entry.usedMs = performance.now();
      if (this.#entries.delete(id)) this.#entries.set(id, entry);
    }
  }

  /** End all sessions. */
  close(): void {
    clearInterval(this.#timer);
    for (const entry of [...this.#entries.values()]) this.#end(entry);
  }

  #endIdle(): void {
    const nowMs = performance.now();
    for (const entry of [...this.#entries.values()]) {
      if (entry.pending === 0 && nowMs - entry.usedMs >= this.#idleMs) this.#end(entry);
    }
  }

  #end({ session }: Entry): void {
    this.#entries.delete(session.id);
    // Ends its streams and cancels what it runs; it reports nothing.
    void session.server.close();
  }
}
