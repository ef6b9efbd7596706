/**
 * Subscriptions of MCP clients to resources of MCP servers, at the address of one session.
 */
import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/server';
import type { Session } from '../../src/session/session.ts';
import { answered } from './protocol-error.ts';
import { MAX_LISTENED_RESOURCES } from './resource-updates.ts';
import { parseResourceUri } from './resource-uri.ts';
import type { ResourceOptions } from './session-resources.ts';
import { visibleUpstreams } from './visible-upstreams.ts';

/** A subscriber to resources of MCP servers, under the addresses that they have for MCP clients. */
export class ClientSubscriber {
  readonly #options: ResourceOptions;
  readonly #id = `client ${randomUUID()}`;
  readonly #onUpdated: (uri: string) => void;
  #isEnded = false;

  /** @param onUpdated Called with the address as the client has it. */
  constructor(options: ResourceOptions, onUpdated: (uri: string) => void) {
    this.#options = options;
    this.#onUpdated = onUpdated;
  }

  /** Subscribe to those of the resources that are an MCP server's; what is there of others is told by `list_changed`. */
  async add(uris: readonly string[]): Promise<void> {
    const session = await this.#options.session();
    // The client may have gone meanwhile.
    if (this.#isEnded) return;
    for (const uri of uris.slice(0, MAX_LISTENED_RESOURCES)) {
      const address = this.#parse(uri, session);
      if (!address) continue;
      const onUpdated = () => this.#onUpdated(uri);
      this.#options.upstreams.subscribe(address.server, address.uri, { id: this.#id, onUpdated }, session.principal);
    }
  }

  /** End one subscription. */
  remove(uri: string): void {
    const address = parseResourceUri(uri);
    if (address?.kind === 'upstream') this.#options.upstreams.unsubscribe(address.server, address.uri, this.#id);
  }

  /** End all subscriptions. */
  end(): void {
    this.#isEnded = true;
    this.#options.upstreams.endSubscriptions(this.#id);
  }

  #parse(uri: string, session: Session) {
    const address = parseResourceUri(uri);
    if (address?.kind !== 'upstream' || address.sessionId !== session.id) return undefined;
    return visibleUpstreams(this.#options, session).includes(address.server) ? address : undefined;
  }
}

/** Let a client of the 2025-11-25 revision subscribe. @returns A function that ends its subscriptions. */
export function addSubscriptions(server: Server, options: ResourceOptions): () => void {
  const subscriber = new ClientSubscriber(options, (uri) => {
    // A client that has gone needs none.
    server.sendResourceUpdated({ uri }).catch(() => undefined);
  });
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) =>
    answered(async () => {
      await subscriber.add([uri]);
      return {};
    }),
  );
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscriber.remove(uri);
    return {};
  });
  return () => subscriber.end();
}
