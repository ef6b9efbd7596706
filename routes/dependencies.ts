/**
 * What the doors are handed. They decide nothing: a door parses, calls one of these, and replies.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { Limits } from '../config/limits.ts';
import type { PrincipalLimits } from '../config/settings/principal-limits.ts';
import type { ToolMode } from '../src/wire/permission-context.ts';
import type { ToolPool } from '../src/pool/tool-pool.ts';
import type { ContainmentState, Readiness } from '../src/wire/server-replies.ts';
import type { SessionDirectory } from '../src/session/directory/session-directory.ts';
import type { RequestRates } from './request-rates.ts';
import type { Tickets } from './tickets.ts';

/** What doors ask of the directory. */
export type Sessions = Pick<
  SessionDirectory,
  'create' | 'createForBatch' | 'open' | 'openToAnswer' | 'list' | 'remove'
>;

/** Everything `buildApp` is handed. */
export interface Dependencies {
  readonly directory: Sessions;
  /**
   * The tools that a new session of the principal would see, with the external tools there are now.
   *
   * @throws {GauntletError} `invalid_request` where a settings file of a trusted folder cannot be used
   */
  newSessionPool(principal: string, toolMode: ToolMode): ToolPool;
  /** Mode of the list that names none. */
  readonly defaultToolMode: ToolMode;
  /** There is a REPL tool: without one, tool mode `repl` would leave nothing to work with. */
  readonly hasRepl: boolean;
  /** The principal a token belongs to; compares in constant time. */
  authenticate(token: string): string | undefined;
  /** What a principal may use at most; the same whenever it is asked. */
  limitsOf(principal: string): PrincipalLimits;
  /** Told of each bad credential that is answered with 401. @param address Where it came from. */
  onBadCredential?(address: string): void;
  /** Allowed `Host` values, lower case, with their port; may be filled once the port is known. */
  readonly hosts: ReadonlySet<string>;
  /** Allowed `Origin` values beside the server's own. */
  readonly origins: ReadonlySet<string>;
  readonly tickets: Tickets;
  readonly limits: Limits;
  /** Never given a token, an input or an output. */
  readonly logger: Pick<FastifyBaseLogger, 'debug' | 'info' | 'warn' | 'error'>;
  /** Proxy addresses whose forwarding headers are believed; `false`: nobody's. */
  readonly trustProxy: boolean | readonly string[];
  readiness(): Readiness;
  /** What holds the commands that nobody is asked about. */
  containment(): Promise<ContainmentState>;
  /** Numbers for `/metrics`, by name without the prefix `gauntlet_`. */
  gauges?(): Readonly<Record<string, number>>;
  readonly version: string;
}

/** What a door is handed: the same, and the app's own end. */
export interface DoorContext extends Dependencies {
  /** Aborted when the app closes: ends replies that would not end by themselves. */
  readonly closing: AbortSignal;
  readonly rates: RequestRates;
}
