/**
 * Bodies: JSON, in UTF-8, judged before any schema looks at them; anything else is 415.
 */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Limits } from '../config/limits.ts';
import { GauntletError } from '../src/base/errors.ts';
import { parseSafeJson } from '../src/base/json.ts';

/** Each run of blanks belongs to one thing: two that could share it would take its square. */
const JSON_TYPE = /^application\/json(?:[\t ]*;[\t ]*charset="?utf-8"?)?(?:[\t ]*;)?[\t ]*$/i;

/** Read JSON bodies, and only those. */
export function takeJsonBodies(app: FastifyInstance, limits: Pick<Limits, 'jsonDepth'>): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request: FastifyRequest, body: Buffer, done) => {
    try {
      checkEncoding(request.headers['content-encoding']);
      done(null, parseBody(request.headers['content-type'] ?? '', body, limits));
    } catch (error) {
      done(error as Error);
    }
  });
}

function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding === 'identity') return;
  throw new GauntletError('unsupported_media_type', 'Cannot read the body: send it without a "Content-Encoding"');
}

function parseBody(contentType: string, body: Buffer, limits: Pick<Limits, 'jsonDepth'>): unknown {
  if (contentType !== 'application/json' && !JSON_TYPE.test(contentType)) {
    throw new GauntletError('unsupported_media_type', 'Cannot read the body: send it as "application/json" in UTF-8');
  }
  // Clients that always name a type send it with an empty DELETE too.
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw new GauntletError('invalid_request', 'Cannot read the body: it is not valid UTF-8');
  return parseSafeJson(body.toString('utf8'), 'the body', limits);
}
