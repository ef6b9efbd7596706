/**
 * Who may open a WebSocket: decided in the upgrade, while a refusal is still a reply.
 */
import type { FastifyRequest } from 'fastify';
import { GauntletError } from '../../src/base/errors.ts';
import type { Session } from '../../src/session/session.ts';
import type { DoorContext } from '../dependencies.ts';
import { sessionFinder, type SessionRequest } from '../sessions/index.ts';
import { isSpoken, SUBPROTOCOL } from './subprotocol.ts';

/** The parts of an upgrade request that admission reads. */
export type Upgrade = SessionRequest & Pick<FastifyRequest, 'ws' | 'headers'>;

/** Lets clients in. */
export interface Admission {
  /** Look at an upgrade. @throws {GauntletError} `invalid_request`, `not_found`, `rate_limited` */
  admit(request: Upgrade): Promise<void>;
  /** The session of a request that was let in. */
  sessionOf(request: Upgrade): Session;
  /** Whether a principal has as many WebSockets open as it may. */
  hasTooMany(principal: string): boolean;
}

/** Make it. @param principals Of the WebSockets that are open. */
export function createAdmission(context: DoorContext, principals: () => Iterable<string>): Admission {
  const find = sessionFinder(context);
  const admitted = new WeakMap<Upgrade, Session>();

  function hasTooMany(principal: string): boolean {
    const most = context.limitsOf(principal).streams;
    return most > 0 && [...principals()].filter((each) => each === principal).length >= most;
  }

  return {
    hasTooMany,
    async admit(request) {
      if (!request.ws)
        throw new GauntletError('invalid_request', 'Cannot stream over plain HTTP: open it as a WebSocket');
      if (!isSpoken(request.headers['sec-websocket-protocol'])) {
        throw new GauntletError('invalid_request', `Cannot speak this subprotocol: offer "${SUBPROTOCOL}"`);
      }
      admitted.set(request, await find(request));
      if (!hasTooMany(request.principal)) return;
      const details = { reason: 'streams' };
      throw new GauntletError('rate_limited', 'Cannot open another WebSocket: close one first', { details });
    },
    sessionOf(request) {
      const session = admitted.get(request);
      if (session === undefined) throw new TypeError('A stream was opened without a session');
      return session;
    },
  };
}
