/**
 * Bounds the connections that belong to one session each: everyone may be a process.
 */
import { GauntletError } from '../base/errors.ts';
import type { McpLink } from './link.ts';
import type { LinkUse } from './session-links.ts';

/** Connections in all. */
const MAX_OWNED_LINKS = 256;

/** Connections of one principal. */
const MAX_OWNED_OF_PRINCIPAL = 64;

/** Owner of a connection that is not shared. */
export interface LinkOwner {
  readonly principal: string;
  readonly sessionId: string;
}

interface OwnedLink extends LinkOwner {
  readonly use?: LinkUse | undefined;
  /** Absent while it is being opened. */
  link?: McpLink;
}

/** The connections that belong to sessions, of all servers. */
export class OwnedLinks {
  /** Oldest first. */
  readonly #links = new Set<OwnedLink>();

  /**
   * Open a connection. Where there are too many, the oldest one that no call uses is closed.
   *
   * @param use Absent: the connection is closed by its caller alone.
   * @throws {GauntletError} `rate_limited`, or as `open`.
   */
  async open(owner: LinkOwner, open: () => Promise<McpLink>, use?: LinkUse): Promise<McpLink> {
    const isOfPrincipal = ({ principal }: OwnedLink) => principal === owner.principal;
    this.#makeRoom([...this.#links].filter(isOfPrincipal), MAX_OWNED_OF_PRINCIPAL);
    this.#makeRoom([...this.#links], MAX_OWNED_LINKS);
    const owned: OwnedLink = { ...owner, use };
    this.#links.add(owned);
    try {
      owned.link = await open();
      void owned.link.closed.then(() => this.#links.delete(owned));
      return owned.link;
    } catch (error) {
      this.#links.delete(owned);
      throw error;
    }
  }

  #makeRoom(links: readonly OwnedLink[], max: number): void {
    if (links.length < max) return;
    const idle = links.find(({ use, link }) => link !== undefined && use?.isIdle === true);
    if (idle === undefined) {
      const message = `Cannot connect to an MCP server for one session alone: ${links.length} such connections are in use. End sessions that are not needed`;
      throw new GauntletError('rate_limited', message, { details: { reason: 'mcp_connections' } });
    }
    this.#links.delete(idle);
    void idle.link?.close();
  }
}
