/**
 * Sign-in of browsers: a ticket in the address of the console is exchanged for a credential of its principal.
 *
 * A credential counts wherever the principal's token does, for twelve hours, and survives a restart of the server. Only
 * digests are stored. One of them binds it to the token that the principal had, so it ends with that token.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { OpenSharedStore, SharedStore } from '../../src/log/shared-store.ts';
import type { Caller, Closable, ConsoleCredential } from '../caller.ts';
import type { Credential } from '../credential.ts';
import { createTickets, type IssuedTicket } from '../tickets.ts';

/** A credential as it is handed out, once. */
export interface IssuedCredential {
  readonly credential: string;
  readonly principal: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** Tickets and credentials of the console. */
export interface SignIn {
  /** Issue a ticket for the caller. @throws {GauntletError} `overloaded` if too many are waiting to be used. */
  issueTicket(caller: Caller): IssuedTicket;
  /**
   * Use a ticket up, and make a credential that lives no longer than that by which the ticket was made.
   *
   * @returns `undefined` if the ticket is unknown, used or expired, or what it was made by has ended.
   * @throws {GauntletError} `log_unavailable` if the disk fails.
   */
  exchange(ticket: string): Promise<IssuedCredential | undefined>;
  /** Find the credential with this text; `undefined` if it is unknown or has ended. */
  find(text: string): ConsoleCredential | undefined;
  /** End a credential, and those that were made by it. @returns How many ended. */
  revoke(credential: ConsoleCredential): Promise<number>;
  /** End all credentials of a principal, and drop its tickets. @returns How many credentials ended. */
  revokeAll(principal: string): Promise<number>;
}

/** Options of `openSignIn`. */
export interface SignInOptions {
  readonly store: OpenSharedStore;
  /** The principals and the digests of their tokens. */
  readonly tokens: readonly Credential[];
  /** Principals that may have signed tokens. */
  readonly signedPrincipals?: readonly string[];
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** A person who prints the address opens it soon; one who prints many keeps few. */
const TICKET_BOUNDS = { lifeMs: 10 * 60_000, waiting: 100 };

const CREDENTIAL_MS = 12 * 60 * 60_000;

/** Credentials of one principal; the oldest ends for a new one. Closed tabs leave theirs behind. */
const MAX_CREDENTIALS = 32;

const CREDENTIAL_BYTES = 32;

/** Tells a credential from a token, also for tools that search texts for secrets. */
const PREFIX = 'gauntlet_console_';

/** Entries of the server itself: no principal has an empty name, and none can use up the room of another. */
const SERVER = '';
const NAMESPACE = 'console-credentials';

const PURPOSE = 'console';

/** Load the credentials that are still valid, and remove the others. @throws {GauntletError} `log_unavailable` */
export async function openSignIn(options: SignInOptions): Promise<SignIn> {
  const { store, tokens, signedPrincipals = [], now = Date.now } = options;
  // Signed tokens have no digest that could be bound: what is made by one ends when it expires.
  const digests = new Map(signedPrincipals.map((principal) => [principal, '']));
  for (const { principal, tokenSha256 } of tokens) digests.set(principal, tokenSha256);
  const held = new HeldCredentials(store(SERVER, NAMESPACE), digests, now);
  await held.load();
  const tickets = createTickets(undefined, TICKET_BOUNDS);
  return {
    issueTicket: (caller) => tickets.issue(caller, PURPOSE),
    async exchange(ticket) {
      const holder = tickets.redeem(ticket, PURPOSE);
      return holder && held.make(holder);
    },
    find: (text) => held.find(text),
    revoke: (credential) => held.revoke(credential),
    revokeAll(principal) {
      tickets.withdraw(principal);
      return held.revokeWhere((each) => each.principal === principal);
    },
  };
}

/** Stored record of a credential, under its digest. */
type StoredCredential = {
  readonly principal: string;
  readonly expires_at: string;
  /** Digest of the credential and its principal's token. */
  readonly binding: string;
  /** Digest of the credential by which it was made; null if it was made by the token. */
  readonly made_by: string | null;
};

/** A credential in memory; it ends by itself when its time is over. */
class Held implements ConsoleCredential {
  readonly digest: string;
  readonly stored: StoredCredential;
  readonly #expired: NodeJS.Timeout;
  readonly #connections = new Set<Closable>();
  #hasEnded = false;

  constructor(digest: string, stored: StoredCredential, { lifeMs }: { readonly lifeMs: number }) {
    this.digest = digest;
    this.stored = stored;
    this.#expired = setTimeout(() => this.end(), Math.max(0, lifeMs)).unref();
  }

  get principal(): string {
    return this.stored.principal;
  }

  get expiresAt(): string {
    return this.stored.expires_at;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  attach(connection: Closable): void {
    this.#connections.add(connection);
    connection.once('close', () => this.#connections.delete(connection));
  }

  detach(connection: Closable): void {
    this.#connections.delete(connection);
  }

  end(): void {
    clearTimeout(this.#expired);
    this.#hasEnded = true;
    for (const connection of this.#connections) connection.destroy();
  }
}

/** All credentials, in memory and in the store. */
class HeldCredentials {
  readonly #store: SharedStore;
  /** Digests of tokens by principal. */
  readonly #tokens: ReadonlyMap<string, string>;
  readonly #now: () => number;
  /** By digest, the oldest first. */
  readonly #held = new Map<string, Held>();

  constructor(store: SharedStore, tokens: ReadonlyMap<string, string>, now: () => number) {
    this.#store = store;
    this.#tokens = tokens;
    this.#now = now;
  }

  async load(): Promise<void> {
    const entries = await this.#store.list();
    const stored = entries.map(({ key, value }) => ({ digest: key, ...(value as StoredCredential) }));
    for (const { digest, ...entry } of stored.sort((a, b) => a.expires_at.localeCompare(b.expires_at))) {
      if (this.#isLive(entry)) this.#hold(digest, entry);
      else await this.#store.delete(digest);
    }
  }

  async make({ principal, credential: maker, tokenEndsMs = Infinity }: Caller): Promise<IssuedCredential | undefined> {
    const credential = PREFIX + randomBytes(CREDENTIAL_BYTES).toString('base64url');
    const latest = maker === undefined ? tokenEndsMs : Date.parse(maker.expiresAt);
    const expiresAt = new Date(Math.min(this.#now() + CREDENTIAL_MS, latest)).toISOString();
    const binding = this.#bindingOf(principal, credential);
    const stored = { principal, expires_at: expiresAt, binding, made_by: maker instanceof Held ? maker.digest : null };
    if (!this.#isLive(stored)) return undefined;
    const digest = hash('sha256', credential);
    // In memory first, where a revocation finds it while the disk is waited for.
    const held = this.#hold(digest, stored);
    try {
      await this.#makeRoom(principal);
      await this.#store.set(digest, stored);
    } catch (error) {
      this.#held.delete(digest);
      held.end();
      throw error;
    }
    if (!held.hasEnded) return { credential, principal, expiresAt };
    await this.#store.delete(digest);
    return undefined;
  }

  find(text: string): ConsoleCredential | undefined {
    if (!text.startsWith(PREFIX)) return undefined;
    const held = this.#held.get(hash('sha256', text));
    if (held === undefined || held.hasEnded || !this.#isLive(held.stored)) return undefined;
    const binding = Buffer.from(this.#bindingOf(held.principal, text));
    const expected = Buffer.from(held.stored.binding);
    return binding.length === expected.length && timingSafeEqual(binding, expected) ? held : undefined;
  }

  async revoke(credential: ConsoleCredential): Promise<number> {
    return this.revokeWhere((held) => this.#isOf(held, credential));
  }

  /** In memory at once, so that a disk that fails cannot keep one alive. */
  async revokeWhere(isMeant: (held: Held) => boolean): Promise<number> {
    const ending = [...this.#held.values()].filter(isMeant);
    for (const { digest } of ending) this.#held.delete(digest);
    for (const held of ending) held.end();
    for (const { digest } of ending) await this.#store.delete(digest);
    return ending.length;
  }

  /** True if `held` is `credential`, or was made by it, directly or not. */
  #isOf(held: Held | undefined, credential: ConsoleCredential): boolean {
    if (held === undefined || held === credential) return held !== undefined;
    const { made_by: maker } = held.stored;
    return maker !== null && this.#isOf(this.#held.get(maker), credential);
  }

  /** Remove what has expired, and the oldest of the principal beyond its number. */
  async #makeRoom(principal: string): Promise<void> {
    await this.revokeWhere((held) => !this.#isLive(held.stored));
    const own = [...this.#held.values()].filter((held) => held.principal === principal);
    const excess = new Set(own.slice(0, Math.max(0, own.length - MAX_CREDENTIALS)));
    await this.revokeWhere((held) => excess.has(held));
  }

  #hold(digest: string, stored: StoredCredential): Held {
    const held = new Held(digest, stored, { lifeMs: Date.parse(stored.expires_at) - this.#now() });
    this.#held.set(digest, held);
    return held;
  }

  #isLive({ principal, expires_at: expiresAt }: StoredCredential): boolean {
    return this.#tokens.has(principal) && Date.parse(expiresAt) > this.#now();
  }

  #bindingOf(principal: string, credential: string): string {
    return hash('sha256', `${this.#tokens.get(principal) ?? ''} ${credential}`);
  }
}
