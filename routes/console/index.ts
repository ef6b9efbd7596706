/**
 * Routes by which a browser signs in to the console: tickets, and the credentials that are given for them.
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import * as z from 'zod';
import { GauntletError } from '../../src/base/errors.ts';
import { type AddressLimit, createAddressLimit } from '../address-limit.ts';
import type { DoorContext } from '../dependencies.ts';
import type { App } from '../request-schemas.ts';

const MAX_TICKET_CHARS = 128;

const TicketRequest = z
  .strictObject({ principal: z.string().max(64).optional().describe('Refused unless it is the caller') })
  .prefault({});

const SignInRequest = z.strictObject({ ticket: z.string().min(1).max(MAX_TICKET_CHARS) });

/** Tries of one address to sign in, good ones too, at once and by which that burst is refilled; more get 429. */
const ATTEMPT_BURST = 200;
const ATTEMPTS_PER_SECOND = 10;

/** Register the routes of tickets and credentials. */
export function consoleDoor(app: App, context: DoorContext): void {
  const { signIn, consoleFolder, countBadCredential, onBadCredential } = context;
  const ticket = { summary: 'A ticket for the console, single use', reply: { json: 'ConsoleTicket' } } as const;
  app.post('/console/tickets', { schema: { body: TicketRequest }, config: ticket }, (request, reply) => {
    if (consoleFolder === undefined) throw new GauntletError('not_found', 'The console is switched off');
    const { principal, credential, tokenEndsMs } = request;
    const { principal: wanted = principal } = request.body;
    if (wanted !== principal) throw otherPrincipal(wanted, principal);
    const lifetime = { ...(credential && { credential }), ...(tokenEndsMs !== undefined && { tokenEndsMs }) };
    const issued = signIn.issueTicket({ principal, ...lifetime });
    return reply.send({ ticket: issued.ticket, principal, expires_at: issued.expiresAt });
  });

  const given = {
    summary: 'Exchange a ticket for a credential',
    reply: { statuses: [201], json: 'ConsoleCredential' },
    isPublic: true,
  } as const;
  const mayTry = createAddressLimit(ATTEMPT_BURST, ATTEMPTS_PER_SECOND);
  const exchange = { schema: { body: SignInRequest }, config: given, preValidation: bounded(mayTry) };
  app.post('/console/credentials', exchange, async (request, reply) => {
    const issued = await signIn.exchange(request.body.ticket);
    if (issued === undefined) {
      if (!countBadCredential(request.ip)) throw tooMany();
      onBadCredential?.(request.ip);
      throw badTicket();
    }
    const { credential, principal, expiresAt } = issued;
    return reply.code(201).send({ credential, principal, expires_at: expiresAt });
  });

  const ended = {
    summary: 'End a credential, or all of the caller and its tickets',
    reply: { json: 'ConsoleRevoked' },
  } as const;
  app.delete('/console/credentials', { config: ended }, async ({ principal, credential }, reply) => {
    credential?.detach(reply.raw);
    return { revoked: await (credential ? signIn.revoke(credential) : signIn.revokeAll(principal)) };
  });
}

/** Refuse an address that tries too often, before its body is looked at. */
function bounded(mayTry: AddressLimit) {
  return function preValidation(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void {
    done(mayTry(request.ip) ? undefined : tooMany());
  };
}

function tooMany(): GauntletError {
  return new GauntletError('rate_limited', 'Too many tries to sign in from this address; try again soon');
}

function badTicket(): GauntletError {
  const why = 'it was used, is older than ten minutes, or the server was started again';
  return new GauntletError(
    'unauthenticated',
    `The ticket is not valid: ${why}. "gauntlet console" prints a new address`,
    {
      details: { reason: 'ticket' },
    },
  );
}

function otherPrincipal(wanted: string, principal: string): GauntletError {
  const message = `This token is of "${principal}", not of "${wanted}": a ticket is for whoever asks for it`;
  return new GauntletError('forbidden', message, { details: { reason: 'principal', path: 'principal' } });
}
