/**
 * Follows what a server offers beside tools: its instructions and its prompts. Nothing waits for it: the tools of a
 * server can be used before it has answered, and whatever it answers.
 */
import type { Client } from '@modelcontextprotocol/client';
import type { Limits } from '../../config/limits.ts';
import { errorMessage } from '../base/errors.ts';
import type { McpConnection } from './connection.ts';
import { listPrompts, type McpPrompt } from './prompts.ts';
import { visibleText } from './visible-text.ts';

/** Longest instructions of one server, in characters; the rest is cut. */
const MAX_INSTRUCTIONS_CHARS = 2_048;

/** Offer of one server. A changed offer is another object. */
export interface ServerOffer {
  /** Name of the server, as configured. */
  readonly server: string;
  /** Its words on how to use it, with hidden characters made visible. */
  readonly instructions?: string;
  /** Sorted by name. */
  readonly prompts: readonly McpPrompt[];
}

/** Options of `ServerOffers`. */
export interface ServerOffersOptions {
  readonly server: string;
  readonly limits: Pick<Limits, 'mcpConnectMs'>;
  /** Replaces secrets in text that the server sent. */
  readonly mask: (text: string) => string;
  readonly onChange: () => void;
  /** Called with each note on prompts left out, for people. */
  readonly onRemark: (remark: string) => void;
}

/** The offer of one server, over all its connections. */
export class ServerOffers {
  readonly #options: ServerOffersOptions;
  #client: Client | undefined;
  #offer: ServerOffer;
  /** The server announced changed prompts that were not fetched yet. */
  #isStale = false;
  #listing: Promise<void> | undefined;

  constructor(options: ServerOffersOptions) {
    this.#options = options;
    this.#offer = { server: options.server, prompts: [] };
  }

  get current(): ServerOffer {
    return this.#offer;
  }

  /** Take note of the state of the connection. What a lost one offered is kept until reconnecting has failed. */
  follow({ status, client }: Pick<McpConnection, 'status' | 'client'>): void {
    if (status === 'failed' || status === 'needs_auth') {
      this.#client = undefined;
      this.#set({ prompts: [] });
    }
    if (status !== 'connected' || client === undefined || client === this.#client) return;
    this.#client = client;
    const instructions = this.#instructionsOf(client);
    this.#set({ ...(instructions !== '' && { instructions }), prompts: this.#offer.prompts });
    this.relist();
  }

  /** List the prompts again; announcements that arrive meanwhile cause a single further listing. */
  relist(): void {
    this.#isStale = true;
    this.#listing ??= this.#listWhileStale().finally(() => (this.#listing = undefined));
  }

  async #listWhileStale(): Promise<void> {
    const { server, limits, onRemark } = this.#options;
    while (this.#isStale && this.#client !== undefined) {
      this.#isStale = false;
      const client = this.#client;
      try {
        // It ends with the connection, or by its time limit.
        const { prompts, remarks } = await listPrompts(client, server, limits, new AbortController().signal);
        if (client !== this.#client) continue;
        remarks.forEach((remark) => onRemark(remark));
        this.#set({ ...this.#offer, prompts });
      } catch (error) {
        // The earlier prompts stay listed, and the server checks each request.
        if (client === this.#client) onRemark(`Cannot list its prompts: ${errorMessage(error)}`);
      }
    }
  }

  #instructionsOf(client: Client): string {
    const sent: unknown = client.getInstructions();
    if (typeof sent !== 'string') return '';
    // Masked before it is cut, so that no half of a secret is left.
    return visibleText(this.#options.mask(sent).trim(), MAX_INSTRUCTIONS_CHARS);
  }

  #set(offer: Omit<ServerOffer, 'server'>): void {
    const { instructions, prompts } = offer;
    const next = { server: this.#options.server, ...(instructions !== undefined && { instructions }), prompts };
    if (JSON.stringify(next) === JSON.stringify(this.#offer)) return;
    this.#offer = next;
    this.#options.onChange();
  }
}
