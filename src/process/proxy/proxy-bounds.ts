/**
 * Bounds of the proxy of sandboxed commands.
 */

/** Each bound with its reason; those of sessions count for one session. */
export const PROXY_BOUNDS = {
  /** Connections to the outside, all sessions together; each takes two descriptors. */
  connections: 256,
  /** Connections of one session to the proxy; one more is closed. */
  sessionConnections: 64,
  /** Sockets of sessions that run no command kept open for their next one. */
  idleSockets: 16,
  /** Head of one request: twice what Node takes by default. */
  headerBytes: 32 * 1_024,
  /** Lines of it. */
  headers: 200,
  /** A name found and a connection made, or given up. */
  connectMs: 10_000,
  /** A connection on which nothing moves for this long is closed. */
  idleMs: 2 * 60_000,
  /** The longest one connection may stay. */
  totalMs: 60 * 60_000,
  /** The most one connection may carry, both ways together. */
  bytes: 4_096 * 1_024 * 1_024,
  /** Interval at which the bytes and the age of connections are checked. */
  checkMs: 1_000,
} as const satisfies Record<string, number>;

/** The bounds of one proxy. */
export type ProxyBounds = Readonly<Record<keyof typeof PROXY_BOUNDS, number>>;
