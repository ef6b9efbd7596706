/**
 * The sender of a request: a principal, and the console's credential if that was sent in place of the token.
 */

/** A connection that can be cut off: a reply in progress, or the socket of a WebSocket. */
export interface Closable {
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** A credential that a browser got for a ticket. */
export interface ConsoleCredential {
  readonly principal: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
  /** True once it is revoked or has expired. */
  readonly hasEnded: boolean;
  /** Close `connection` when the credential ends before it. */
  attach(connection: Closable): void;
  /** Let `connection` outlive the credential: the reply to the request that revokes it. */
  detach(connection: Closable): void;
}

/** The sender of a request. */
export interface Caller {
  readonly principal: string;
  /** Absent if a token was sent. */
  readonly credential?: ConsoleCredential;
  /** Milliseconds since 1970 at which a signed token expires; absent for what does not expire, and for a credential. */
  readonly tokenEndsMs?: number;
}
