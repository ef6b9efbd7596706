/**
 * Serves the console's page and its files: those that the build made, which are listed once and read on request.
 */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GauntletError } from '../../src/base/errors.ts';
import type { Dependencies } from '../dependencies.ts';
import type { App } from '../request-schemas.ts';

const PAGE = 'index.html';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

/** The page loads nothing from elsewhere, runs no text as a script, and cannot be framed. */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** The build puts a digest of the content into these names. */
const HASHED = /^assets\/.+-[\w-]{8,}\.\w+$/;

const SWITCHED_OFF = 'The console is switched off by the setting "console"';

const NOT_BUILT = 'This build of the server has no console: "npm run build" in a clone makes one.\n';

const compress = promisify(gzip);

/** A file as it is sent. */
interface ServedFile {
  readonly plain: Buffer;
  /** Absent where it would not be shorter. */
  readonly gzipped?: Buffer;
}

/** Register the page and its files. @throws {Error} If the folder cannot be listed. */
export function consoleFilesDoor(app: App, { consoleFolder }: Pick<Dependencies, 'consoleFolder'>): void {
  const listed = new Set(consoleFolder === undefined ? [] : listFiles(consoleFolder));
  /** Hashed names only: their content never changes. */
  const kept = new Map<string, Promise<ServedFile>>();

  async function send(path: string, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    if (consoleFolder === undefined) throw new GauntletError('not_found', SWITCHED_OFF);
    reply.headers(HEADERS);
    if (!listed.has(PAGE)) return reply.code(404).header('content-type', TYPES['.txt']).send(NOT_BUILT);
    if (!listed.has(path)) throw new GauntletError('not_found', 'There is nothing at this address');
    const isHashed = HASHED.test(path);
    const reading = kept.get(path) ?? readServed(join(consoleFolder, path));
    if (isHashed) kept.set(path, reading);
    const { plain, gzipped } = await reading.catch((error: unknown) => {
      kept.delete(path);
      throw error;
    });
    reply.header('content-type', TYPES[extname(path)] ?? 'application/octet-stream');
    reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
    if (gzipped === undefined) return reply.send(plain);
    reply.header('vary', 'Accept-Encoding');
    if (!/\bgzip\b(?!;q=0)/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(plain);
    return reply.header('content-encoding', 'gzip').send(gzipped);
  }

  const config = { isPublic: true };
  app.get('/', { config }, (request, reply) => send(PAGE, request, reply));
  app.get<{ Params: { '*': string } }>('/console/*', { config }, (request, reply) =>
    send(request.params['*'] || PAGE, request, reply),
  );
}

/** @returns Paths below the folder, with forward slashes; none if it does not exist. */
function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function readServed(path: string): Promise<ServedFile> {
  const plain = await readFile(path).catch((cause: unknown) => {
    throw new GauntletError('not_found', 'This file is gone: the server was built again. Restart it', { cause });
  });
  const gzipped = await compress(plain);
  return gzipped.length < plain.length ? { plain, gzipped } : { plain };
}
