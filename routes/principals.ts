/**
 * `/principals`: what the sender of a token is and may do, and all principals for the owner.
 */
import { OWNER } from '../config/settings/principals.ts';
import { GauntletError } from '../src/base/errors.ts';
import type { Dependencies } from './dependencies.ts';
import type { App } from './request-schemas.ts';

type Parts = Pick<Dependencies, 'describePrincipal' | 'limitsOf'>;

/** Register the routes. */
export function principalsDoor(app: App, context: Dependencies): void {
  const { directory, principals, version } = context;
  const self = { summary: 'Who you are, and what you may do', reply: { json: 'Principal' } } as const;
  app.get('/principals/self', { config: self }, ({ principal, credential }, reply) =>
    reply.send({
      principal,
      ...(credential && { credential: { expires_at: credential.expiresAt } }),
      ...boundsOf(principal, context),
      may_answer: { own: true, two_person: context.describePrincipal(principal).answersTwoPerson },
      version,
    }),
  );

  const all = { summary: 'All principals, for the owner', reply: { json: 'Principals' } } as const;
  app.get('/principals', { config: all }, (request, reply) => {
    if (request.principal !== OWNER) throw new GauntletError('forbidden', 'Only the owner may list the principals');
    const listed = principals.map((principal) => {
      const { open, waiting, calls, tasks } = directory.usage(principal);
      return { principal, ...boundsOf(principal, context), sessions: { open, waiting }, calls, tasks };
    });
    return reply.send({ principals: listed });
  });
}

function boundsOf(principal: string, { describePrincipal, limitsOf }: Parts) {
  const { roots, maxMode } = describePrincipal(principal);
  const limits = limitsOf(principal);
  return {
    ...(roots && { roots }),
    ...(maxMode !== undefined && { max_mode: maxMode }),
    limits: {
      requests_per_second: limits.requestsPerSecond,
      request_burst: limits.requestBurst,
      calls_at_once: limits.callsAtOnce,
      sessions_in_use: limits.sessionsInUse,
      streams: limits.streams,
    },
  };
}
