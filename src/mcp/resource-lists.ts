/**
 * The latest lists of one server's resources and templates, so that who lists the resources of many servers does not
 * wait for the slowest of them each time.
 */
import type { Client } from '@modelcontextprotocol/client';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { McpConnection } from './connection.ts';
import type { McpResource, McpResourceTemplate } from './resources.ts';

/** A list this young is not asked for again, unless the server announces another. */
const FRESH_MS = 5_000;

const WAIT_MS = 3_000;

/** Longest time that a server may take for a list that nobody waits for any more. */
const LATE_MS = 60_000;

/** Listings in a row where the server announces another list each time. */
const MAX_ROUNDS = 2;

/** Options of `ResourceLists`. */
export interface ResourceListsOptions {
  listResources(this: void, signal: AbortSignal): Promise<readonly McpResource[]>;
  listTemplates(this: void, signal: AbortSignal): Promise<readonly McpResourceTemplate[]>;
  /** Called when a list may differ from the last one that was given. */
  readonly onChange: () => void;
}

/** The lists of one server. */
export class ResourceLists {
  readonly #onChange: () => void;
  readonly #resources: RecentList<McpResource>;
  readonly #templates: RecentList<McpResourceTemplate>;
  #client: Client | undefined;

  /** @param waitMs Longest wait for a list; a server that needed longer the last time is not waited for. */
  constructor({ listResources, listTemplates, onChange }: ResourceListsOptions, waitMs = WAIT_MS) {
    this.#onChange = onChange;
    this.#resources = new RecentList(listResources, waitMs, onChange);
    this.#templates = new RecentList(listTemplates, waitMs, onChange);
  }

  /** Return the resources: the last list that is known if there is no answer in time. Never rejects. */
  resources(signal: AbortSignal): Promise<readonly McpResource[]> {
    return this.#resources.get(signal);
  }

  /** Return the templates, as `resources`. */
  templates(signal: AbortSignal): Promise<readonly McpResourceTemplate[]> {
    return this.#templates.get(signal);
  }

  /** Take note of an announcement of the server. */
  announced(): void {
    this.#resources.expire();
    this.#templates.expire();
    this.#onChange();
  }

  /** Take note of the state of the connection. */
  follow({ client }: Pick<McpConnection, 'client'>): void {
    if (client === this.#client) return;
    const isConcerned = [client, this.#client].some((one) => one?.getServerCapabilities()?.resources !== undefined);
    this.#client = client;
    this.#resources.forget();
    this.#templates.forget();
    if (isConcerned) this.#onChange();
  }
}

/** One list, as it was last. */
class RecentList<Entry> {
  readonly #read: (signal: AbortSignal) => Promise<readonly Entry[]>;
  readonly #waitMs: number;
  readonly #onLate: () => void;
  #entries: readonly Entry[] = [];
  /** Monotonic time of the answer. */
  #readMs = -Infinity;
  /** The server may have another list since it was asked. */
  #isExpired = false;
  #listing: Promise<void> | undefined;
  /** The last answer did not come in time. */
  #isSlow = false;
  /** Somebody was given the entries before the server answered. */
  #isOwed = false;

  /** @param onLate Called when an answer differs from what somebody was given before it came. */
  constructor(read: (signal: AbortSignal) => Promise<readonly Entry[]>, waitMs: number, onLate: () => void) {
    this.#read = read;
    this.#waitMs = waitMs;
    this.#onLate = onLate;
  }

  async get(signal: AbortSignal): Promise<readonly Entry[]> {
    if (!this.#isExpired && performance.now() - this.#readMs < FRESH_MS) return this.#entries;
    this.#listing ??= this.#list().finally(() => (this.#listing = undefined));
    const isLate = this.#isSlow || (await isPendingAfter(this.#listing, this.#waitMs, signal));
    if (isLate) this.#isOwed = true;
    if (isLate && !signal.aborted) this.#isSlow = true;
    return this.#entries;
  }

  expire(): void {
    this.#isExpired = true;
  }

  forget(): void {
    this.expire();
    this.#entries = [];
    this.#isSlow = false;
  }

  /** Ask the server; never rejects. */
  async #list(): Promise<void> {
    const former = this.#entries;
    const beganMs = performance.now();
    try {
      for (let round = 0; round === 0 || (this.#isExpired && round < MAX_ROUNDS); round++) {
        this.#isExpired = false;
        this.#readMs = -Infinity;
        this.#entries = await this.#read(AbortSignal.timeout(LATE_MS));
        this.#readMs = performance.now();
      }
      this.#isSlow = performance.now() - beganMs >= this.#waitMs;
      if (this.#isOwed && !isDeepStrictEqual(former, this.#entries)) this.#onLate();
    } catch {
      // The last list stays, and the next request asks again.
      this.expire();
    }
    this.#isOwed = false;
  }
}

/** Wait for `work`, which never rejects. @returns True if it has not ended when the time is over or `signal` aborts. */
async function isPendingAfter(work: Promise<void>, limitMs: number, signal: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  // It rejects only when it is aborted, which is a normal end of the wait.
  const timeout = delay(limitMs, undefined, { signal: until }).then(
    () => true,
    () => true,
  );
  const isPending = await Promise.race([work.then(() => false), timeout]);
  over.abort();
  return isPending;
}
