/**
 * `GET /principals/self`: what the sender of a token is and may do.
 */
import type { Dependencies } from './dependencies.ts';
import type { App } from './request-schemas.ts';

/** Register the route. */
export function principalsDoor(app: App, { describePrincipal, limitsOf, version }: Dependencies): void {
  const config = { summary: 'Who you are, and what you may do', reply: { json: 'Principal' } } as const;
  app.get('/principals/self', { config }, ({ principal, credential }, reply) => {
    const { roots, maxMode, answersTwoPerson } = describePrincipal(principal);
    const limits = limitsOf(principal);
    return reply.send({
      principal,
      ...(credential && { credential: { expires_at: credential.expiresAt } }),
      ...(roots && { roots }),
      ...(maxMode !== undefined && { max_mode: maxMode }),
      may_answer: { own: true, two_person: answersTwoPerson },
      limits: {
        requests_per_second: limits.requestsPerSecond,
        request_burst: limits.requestBurst,
        calls_at_once: limits.callsAtOnce,
        sessions_in_use: limits.sessionsInUse,
        streams: limits.streams,
      },
      version,
    });
  });
}
