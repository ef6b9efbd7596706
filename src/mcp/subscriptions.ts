/**
 * Subscriptions to changes of one server's resources, over its shared connection.
 *
 * Nothing waits for the server: it is told in the background what is wanted, and told again over each new connection.
 */
import { createRateLimit, paceChanges } from '../base/pace.ts';
import type { Client, McpSubscription } from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';
import type { McpConnection } from './connection.ts';
import { MAX_RETRY_MS, type RetryPace, retryPause } from './retry-pause.ts';

/**
 * Resources of one server that are subscribed to, for all subscribers. Once there are as many, a principal that has more
 * than another loses its oldest for the other's next.
 */
const MAX_RESOURCES = 256;

/** Resources of one server that one subscriber is told of; the oldest is dropped for another one. */
const MAX_RESOURCES_OF_SUBSCRIBER = 64;

/** Changes of one resource closer together than this are told twice at most: at once, and at the end of the time. */
const PAUSE_MS = 1_000;

/** Changes that one subscriber is told of in `RATE_MS`; the rest is dropped. */
const MAX_UPDATES_IN_TIME = 60;
const RATE_MS = 60_000;

/** Someone who is told of changes. */
export interface ResourceSubscriber {
  readonly id: string;
  onUpdated(uri: string): void;
}

/** A subscriber, and whose it is. */
interface Subscription {
  readonly subscriber: ResourceSubscriber;
  readonly principal: string;
}

/** Options of `ResourceSubscriptions`. */
export interface SubscriptionsOptions {
  readonly limits: Pick<Limits, 'mcpConnectMs'>;
  readonly pace: RetryPace;
}

/** The subscriptions to one server. */
export class ResourceSubscriptions {
  readonly #options: SubscriptionsOptions;
  /** By address; the oldest first. */
  readonly #subscribers = new Map<string, Map<string, Subscription>>();
  /** Addresses that the server of the older era was told of, and those that it is being told of. */
  readonly #told = new Set<string>();
  readonly #telling = new Set<string>();
  /** Resources whose change was told just now. */
  readonly #changed = paceChanges(PAUSE_MS, MAX_RESOURCES, (uri) => this.#announce(uri));
  /** By subscriber. */
  readonly #limits = new Map<string, () => boolean>();
  readonly #pause: ReturnType<typeof retryPause>;
  #client: Client | undefined;
  #onChange: () => void = () => undefined;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#pause = retryPause(options.pace);
  }

  /** Take note of the state of the connection. */
  follow({ client, closing }: Pick<McpConnection, 'client' | 'closing'>): void {
    if (client === this.#client) return;
    this.#client = client;
    this.#told.clear();
    this.#onChange();
    if (client?.getServerCapabilities()?.resources?.subscribe !== true) return;
    if (client.getProtocolEra() === 'modern') void this.#keepListening(client, closing);
    else for (const uri of this.#subscribers.keys()) void this.#tell(uri);
  }

  /** Subscribe. Does nothing if the server has no subscriptions, or too many of the principal. */
  add(uri: string, subscriber: ResourceSubscriber, principal = ''): void {
    if (this.#client?.getServerCapabilities()?.resources?.subscribe !== true) return;
    const subscription = { subscriber, principal };
    const known = this.#subscribers.get(uri);
    if (known?.has(subscriber.id)) return void known.set(subscriber.id, subscription);
    const own = [...this.#subscribers].filter(([, subscribers]) => subscribers.has(subscriber.id));
    const [oldest] = own;
    if (own.length >= MAX_RESOURCES_OF_SUBSCRIBER && oldest) this.remove(oldest[0], subscriber.id);
    if (known) return void known.set(subscriber.id, subscription);
    if (!this.#makeRoom(principal)) return;
    this.#subscribers.set(uri, new Map([[subscriber.id, subscription]]));
    this.#change(uri);
  }

  /** Unsubscribe. */
  remove(uri: string, subscriberId: string): void {
    const subscribers = this.#subscribers.get(uri);
    if (!subscribers?.delete(subscriberId) || subscribers.size > 0) return;
    this.#subscribers.delete(uri);
    this.#change(uri);
  }

  /** End all subscriptions of one subscriber. */
  removeAll(subscriberId: string): void {
    this.#limits.delete(subscriberId);
    for (const uri of [...this.#subscribers.keys()]) this.remove(uri, subscriberId);
  }

  /** Tell those that have subscribed to a resource that it changed. */
  updated(uri: string): void {
    if (this.#subscribers.has(uri)) this.#changed(uri);
  }

  /**
   * Make room for another resource of a principal. Each resource counts for the principal that was the first of those
   * who still want it.
   *
   * @returns False if no other principal has more.
   */
  #makeRoom(principal: string): boolean {
    while (this.#subscribers.size >= MAX_RESOURCES) {
      const held = new Map<string, string[]>();
      for (const [uri, subscriptions] of this.#subscribers) {
        const [first] = subscriptions.values();
        if (first) held.set(first.principal, [...(held.get(first.principal) ?? []), uri]);
      }
      const most = [...held].reduce((one, other) => (other[1].length > one[1].length ? other : one));
      const [greediest, [oldest]] = most;
      if (oldest === undefined || most[1].length <= (held.get(principal)?.length ?? 0) + 1) return false;
      for (const [id, { principal: whose }] of this.#subscribers.get(oldest) ?? [])
        if (whose === greediest) this.remove(oldest, id);
    }
    return true;
  }

  #announce(uri: string): void {
    for (const { subscriber } of [...(this.#subscribers.get(uri)?.values() ?? [])]) {
      const mayTell = this.#limits.get(subscriber.id) ?? createRateLimit(MAX_UPDATES_IN_TIME, RATE_MS);
      this.#limits.set(subscriber.id, mayTell);
      if (mayTell()) subscriber.onUpdated(uri);
    }
  }

  #change(uri: string): void {
    if (this.#client?.getProtocolEra() === 'modern') this.#onChange();
    else void this.#tell(uri);
  }

  /** Tell a server of the older era whether a resource is wanted, until it knows. One request at a time of each. */
  async #tell(uri: string): Promise<void> {
    if (this.#telling.has(uri)) return;
    this.#telling.add(uri);
    const client = this.#client;
    while (client !== undefined && client === this.#client && this.#subscribers.has(uri) !== this.#told.has(uri)) {
      const isWanted = this.#subscribers.has(uri);
      if (isWanted) this.#told.add(uri);
      else this.#told.delete(uri);
      const method = isWanted ? 'resources/subscribe' : 'resources/unsubscribe';
      const options = { timeout: this.#options.limits.mcpConnectMs };
      // A server that refuses or never answers reports no changes; nobody was promised any.
      await client.request({ method, params: { uri } }, z.looseObject({}), options).catch(() => undefined);
    }
    this.#telling.delete(uri);
    if (this.#client !== client && this.#client?.getProtocolEra() === 'legacy') void this.#tell(uri);
  }

  /** Keep a stream for the wanted resources open at a server of the newer era, and another one when they change. */
  async #keepListening(client: Client, closing: AbortSignal): Promise<void> {
    const { maxFailures } = this.#options.pace;
    const over = new AbortController();
    const ended = new Promise<'ended'>((resolve) => {
      closing.addEventListener('abort', () => resolve('ended'), { once: true, signal: over.signal });
    });
    let stream: McpSubscription | undefined;
    for (let failures = 0; client === this.#client && !closing.aborted;) {
      const changed = this.#nextChange();
      const beganMs = performance.now();
      const former = stream;
      // A server that refuses or never acknowledges is asked again after a pause.
      stream = await this.#listen(client, closing).catch(() => undefined);
      // Not before: a change between the two streams would be lost.
      void former?.close();
      if (stream || this.#subscribers.size === 0) {
        const why = await Promise.race([changed, ended, ...(stream ? [stream.closed] : [])]);
        failures = why === 'changed' || performance.now() - beganMs >= MAX_RETRY_MS ? 0 : failures + 1;
        if (why === 'changed') continue;
      } else failures++;
      await this.#pause.wait({ failures, isParked: failures > maxFailures, signal: closing });
    }
    over.abort();
    void stream?.close();
  }

  #nextChange(): Promise<'changed'> {
    return new Promise((resolve) => {
      this.#onChange = () => {
        resolve('changed');
        this.#pause.wake();
      };
    });
  }

  async #listen(client: Client, signal: AbortSignal): Promise<McpSubscription | undefined> {
    const resourceSubscriptions = [...this.#subscribers.keys()];
    if (resourceSubscriptions.length === 0) return undefined;
    return client.listen({ resourceSubscriptions }, { timeout: this.#options.limits.mcpConnectMs, signal });
  }
}
