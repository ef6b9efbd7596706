/**
 * Close codes of the protocol.
 */

/** Close codes that the server sends; ws adds 1002, 1007 and 1009. */
export const CLOSE = {
  goingAway: 1001,
  binary: 1003,
  internal: 1011,
  slowReader: 4008,
  badFrame: 4400,
  noHello: 4405,
  sessionClosed: 4410,
  tooFast: 4429,
} as const;

/** A close code. */
export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE];
