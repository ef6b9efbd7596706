/**
 * One configured server over its whole life: connect, list its tools, detect the end, pause, connect again.
 *
 * A single loop owns the connection, so there is never more than one attempt at a time. Callers that need the server
 * wake the loop and wait for its next status.
 */
import type { Client } from '@modelcontextprotocol/client';
import type { LimitFunction } from 'p-limit';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { isLinkBroken, isSessionLost, needsLogin, toCallError } from './call-error.ts';
import type { LinkHandlers, ListKind } from './link-handlers.ts';
import type { LinkOptions, McpLink } from './link.ts';
import { listTools, type ListLimits } from './list-tools.ts';
import { retryPause, MAX_RETRY_MS, type RetryPace } from './retry-pause.ts';
import type { McpToolDefinition } from './tool-definition.ts';
import { visibleLine } from './visible-text.ts';

/** Longest reason for a missing connection, in characters. */
const REASON_CHARS = 2_000;

/** State of a server's connection. */
export type McpServerStatus = 'connecting' | 'connected' | 'needs_auth' | 'failed' | 'disabled';

/** Options of `McpConnection`. */
export interface ConnectionOptions {
  readonly name: string;
  /** Opens a link with these handlers. */
  readonly open: (options: Pick<LinkOptions, 'handlers' | 'signal'>) => Promise<McpLink>;
  /** Requests that the server may make over the shared connection. */
  readonly handlers: LinkHandlers;
  /** Limits how many servers connect at the same time. */
  readonly limitConnecting: LimitFunction;
  readonly limits: ListLimits;
  readonly pace: RetryPace;
  /** Called when the status or the definitions changed. */
  readonly onChange: () => void;
  /** Replaces secrets in text that the server sent. */
  readonly mask: (text: string) => string;
  /** Called when the server announces other prompts or resources; debounced. */
  readonly onOffersChanged?: (kind: Exclude<ListKind, 'tools'>) => void;
  /** Called with each note on tools left out of the list, for people. */
  readonly onRemark: (remark: string) => void;
}

/** A request to run over the connection. */
export interface McpRequest<Value> {
  readonly run: (client: Client) => Promise<Value>;
  readonly signal: AbortSignal;
  /** True if it may be sent again after the server lost the session. */
  readonly isRepeatable: boolean;
}

/** Connection to one server, with reconnection. */
export class McpConnection {
  readonly #options: ConnectionOptions;
  readonly #stop = new AbortController();
  readonly #pause: ReturnType<typeof retryPause>;
  #loop: Promise<void> | undefined;
  /** The open link, from the end of the handshake until it has closed. */
  #link: McpLink | undefined;
  #status: McpServerStatus = 'connecting';
  #since = new Date();
  /** The next attempt was asked for, so that nothing is waited for before it. */
  #isHurried = false;
  #reason: string | undefined;
  /** The last list; kept after a lost connection until reconnecting has failed. */
  #definitions: readonly McpToolDefinition[] = [];
  /** Callbacks for the next change of status, each called once. */
  #waiters: (() => void)[] = [];
  /** The server announced a changed list that was not fetched yet. */
  #isListStale = false;
  #relisting: Promise<void> | undefined;
  /** Open links that belong to callers. */
  readonly #ownedLinks = new Set<McpLink>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#pause = retryPause(options.pace);
  }

  get status(): McpServerStatus {
    return this.#status;
  }

  /** Time at which the status began. */
  get since(): Date {
    return this.#since;
  }

  /** Median of the latest round trips in milliseconds; undefined without a connection. */
  get latencyMs(): number | undefined {
    return this.#link?.latencyMs();
  }

  /** Aborted when the connection is closed for good. */
  get closing(): AbortSignal {
    return this.#stop.signal;
  }

  /** Client of the open link; undefined while there is none. */
  get client(): Client | undefined {
    return this.#link?.client;
  }

  /** Reason for the missing connection, for people. */
  get reason(): string | undefined {
    return this.#reason;
  }

  get definitions(): readonly McpToolDefinition[] {
    return this.#definitions;
  }

  /** Start the loop; returns at once. */
  start(): void {
    this.#loop ??= this.#keepConnected();
  }

  /**
   * Wait until the server is connected; a failed server is tried once more.
   *
   * @throws {GauntletError} `tool_failed` with the reason, or `cancelled`.
   */
  async ready(signal: AbortSignal): Promise<McpLink> {
    this.start();
    if (this.#pause.isPausing()) {
      this.#pause.wake();
      await this.#nextStatus(signal);
    }
    while (this.#status === 'connecting' || this.#link?.endReason() !== undefined) await this.#nextStatus(signal);
    if (this.#status === 'connected' && this.#link !== undefined) return this.#link;
    const message = `Cannot reach the MCP server "${this.#options.name}": ${this.#reason ?? this.#status}`;
    throw new GauntletError('tool_failed', message);
  }

  /**
   * Close the connection and open another one. What runs over it fails.
   *
   * @returns Once the server is connected.
   * @throws {GauntletError} As `ready`.
   */
  async reconnect(signal: AbortSignal): Promise<void> {
    this.start();
    const link = this.#link;
    if (link !== undefined && this.#status === 'connected') {
      this.#isHurried = true;
      await this.#drop(link, 'it is connected again, as was asked for');
    }
    await this.ready(signal);
  }

  /**
   * Run one request over the connection.
   *
   * @throws {GauntletError} `cancelled`, `timeout` or `tool_failed`.
   */
  async request<Value>({ run, signal, isRepeatable }: McpRequest<Value>): Promise<Value> {
    const link = await this.ready(signal);
    try {
      return await run(link.client);
    } catch (error) {
      if (isRepeatable && !signal.aborted && isSessionLost(error)) {
        await this.#drop(link, errorMessage(error));
        return this.request({ run, signal, isRepeatable: false });
      }
      throw await this.#callError(link, error, signal);
    }
  }

  /**
   * Run one request over a link of `openOwned`.
   *
   * @throws {GauntletError} `cancelled`, `timeout` or `tool_failed`.
   */
  async requestOver<Value>(link: McpLink, { run, signal }: Omit<McpRequest<Value>, 'isRepeatable'>): Promise<Value> {
    try {
      return await run(link.client);
    } catch (error) {
      throw await this.#callError(link, error, signal);
    }
  }

  /**
   * Open a further link to the server. It belongs to the caller, who closes it; it is not restored when it ends.
   *
   * @throws {GauntletError} `tool_failed` with the reason, or `cancelled`.
   */
  async openOwned(handlers: LinkHandlers, signal: AbortSignal): Promise<McpLink> {
    try {
      const link = await this.#open(handlers, AbortSignal.any([signal, this.#stop.signal]));
      this.#ownedLinks.add(link);
      void link.closed.then(() => this.#ownedLinks.delete(link));
      return link;
    } catch (error) {
      if (signal.aborted) throw new GauntletError('cancelled', `Connecting to "${this.#options.name}" was cancelled`);
      const message = `Cannot reach the MCP server "${this.#options.name}": ${this.#reasonOf(errorMessage(error))}`;
      throw new GauntletError('tool_failed', message, { cause: error });
    }
  }

  /** Stop for good. @returns Once the loop and all links have ended. */
  async close(): Promise<void> {
    this.#stop.abort(new GauntletError('shutting_down', 'The server is shutting down'));
    await Promise.all([this.#loop, ...[...this.#ownedLinks].map((link) => link.close())]);
  }

  async #keepConnected(): Promise<void> {
    const { pace } = this.#options;
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; failures++) {
      const beganAt = performance.now();
      try {
        await this.#connectOnce();
        if (performance.now() - beganAt >= MAX_RETRY_MS) failures = 0;
      } catch (error) {
        this.#reason = this.#reasonOf(errorMessage(error));
        if (!signal.aborted) this.#fail(needsLogin(error) ? 'needs_auth' : 'failed');
      }
      if (this.#isHurried) failures = 0;
      const hasGivenUp = !this.#isHurried && failures >= pace.maxFailures;
      if (hasGivenUp && this.#status === 'connecting') this.#fail('failed');
      const isParked = hasGivenUp || this.#status === 'needs_auth';
      if (!this.#isHurried) await this.#pause.wait({ failures, isParked, signal });
      this.#isHurried = false;
      if (!signal.aborted) this.#setStatus('connecting');
    }
  }

  /** Connect, list, and wait until the connection ends. @throws The error of connecting or listing. */
  async #connectOnce(): Promise<void> {
    const handlers: LinkHandlers = {
      ...this.#options.handlers,
      onListChanged: (kind) => (kind === 'tools' ? this.#relist() : this.#options.onOffersChanged?.(kind)),
    };
    const link = await this.#options.limitConnecting(() => this.#open(handlers, this.#stop.signal));
    const onStop = () => void link.close();
    this.#stop.signal.addEventListener('abort', onStop, { once: true });
    try {
      this.#link = link;
      await this.#list(link);
      this.#reason = undefined;
      this.#setStatus('connected');
      this.#reason = this.#reasonOf(await link.closed);
      this.#link = undefined;
      // Set before the link is closed, which may take a while.
      if (!this.#stop.signal.aborted) this.#setStatus('connecting');
    } finally {
      this.#link = undefined;
      this.#stop.signal.removeEventListener('abort', onStop);
      await link.close();
    }
  }

  async #open(handlers: LinkHandlers, signal: AbortSignal): Promise<McpLink> {
    const connecting = timeLimit(this.#options.limits.mcpConnectMs, signal);
    return this.#options.open({ signal: connecting.signal, handlers }).finally(connecting.clear);
  }

  async #list(link: McpLink): Promise<void> {
    const { definitions, remarks } = await listTools(link.client, this.#options.limits, this.#stop.signal);
    this.#definitions = definitions;
    remarks.forEach((remark) => this.#options.onRemark(remark));
  }

  /** List the tools again; announcements that arrive meanwhile cause a single further listing. */
  #relist(): void {
    this.#isListStale = true;
    this.#relisting ??= this.#listWhileStale().finally(() => (this.#relisting = undefined));
  }

  async #listWhileStale(): Promise<void> {
    while (this.#isListStale && this.#link !== undefined) {
      this.#isListStale = false;
      try {
        await this.#list(this.#link);
        this.#options.onChange();
      } catch (error) {
        // The earlier tools stay callable, and the server validates each call.
        if (this.#link !== undefined) this.#options.onRemark(`Cannot list its tools again: ${errorMessage(error)}`);
      }
    }
  }

  /** Convert the error of a request, and close a link that no longer works. */
  async #callError(link: McpLink, error: unknown, signal: AbortSignal): Promise<GauntletError> {
    const lostReason = link.endReason();
    if (!signal.aborted && (isSessionLost(error) || isLinkBroken(error))) await this.#drop(link, errorMessage(error));
    return toCallError(error, { server: this.#options.name, signal, lostReason, mask: this.#options.mask });
  }

  /** Close a link that no longer works; the loop opens the next. */
  async #drop(link: McpLink, reason: string): Promise<void> {
    if (this.#link === link && this.#status === 'connected') {
      this.#reason = this.#reasonOf(reason);
      this.#setStatus('connecting');
    }
    await link.close();
  }

  #reasonOf(text: string): string {
    return visibleLine(this.#options.mask(text), REASON_CHARS);
  }

  #fail(status: 'failed' | 'needs_auth'): void {
    this.#definitions = [];
    this.#setStatus(status);
  }

  #setStatus(status: McpServerStatus): void {
    if (status !== this.#status) this.#since = new Date();
    this.#status = status;
    const waiters = this.#waiters;
    this.#waiters = [];
    waiters.forEach((resolve) => resolve());
    this.#options.onChange();
  }

  /** Wait for the next change of status. @throws {GauntletError} `cancelled`, also when the server shuts down. */
  async #nextStatus(signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#stop.signal]);
    await new Promise<void>((resolve, reject) => {
      const onAbort = () =>
        reject(new GauntletError('cancelled', `Waiting for the MCP server "${this.#options.name}" was cancelled`));
      if (ended.aborted) return onAbort();
      ended.addEventListener('abort', onAbort, { once: true });
      this.#waiters.push(() => {
        ended.removeEventListener('abort', onAbort);
        resolve();
      });
    });
  }
}

/** Create a signal that aborts with `signal` or after `limitMs`; `clear` stops the timer. */
function timeLimit(limitMs: number, signal: AbortSignal): { readonly signal: AbortSignal; readonly clear: () => void } {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error(`it was not ready within ${limitMs} ms`)), limitMs);
  return { signal: AbortSignal.any([signal, limit.signal]), clear: () => clearTimeout(timer) };
}
