/**
 * The one error of this package.
 */

/**
 * A request that the server refused, or that did not reach it.
 *
 * `code` is one of the codes of the protocol, or `unreachable`, `cancelled`, `closed`, `invalid_reply` or
 * `no_websocket`, which are this package's own and have status 0.
 */
export class GauntletError extends Error {
  override readonly name = 'GauntletError';
  readonly code: string;
  /** HTTP status; 0 where there was no reply. */
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Names the request in the logs of the server. */
  readonly request_id: string | undefined;

  constructor(code: string, message: string, more: ErrorFacts = {}) {
    super(message, { cause: more.cause });
    this.code = code;
    this.status = more.status ?? 0;
    this.details = more.details;
    this.request_id = more.request_id;
  }
}

interface ErrorFacts {
  readonly status?: number;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly request_id?: string;
  readonly cause?: unknown;
}
