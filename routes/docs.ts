/**
 * Serves `/docs`, the interactive API documentation. Swagger UI's files are read on request.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { GauntletError } from '../src/base/errors.ts';
import type { App } from './request-schemas.ts';

const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

const START_SCRIPT = "SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true });\n";

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Gauntlet API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="docs"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** Scripts and styles of this server only; Swagger UI uses inline styles and data images. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Register the documentation pages. */
export function docsDoor(app: App): void {
  const config = { isPublic: true };

  app.get('/docs', { config }, (_request, reply) => {
    reply.header('content-security-policy', POLICY);
    return reply.header('content-type', 'text/html; charset=utf-8').send(PAGE);
  });

  app.get<{ Params: { file: string } }>('/docs/:file', { config }, async (request, reply) => {
    const { file } = request.params;
    if (file === 'start.js') return reply.header('content-type', 'text/javascript; charset=utf-8').send(START_SCRIPT);
    const type = Object.hasOwn(FILES, file) ? FILES[file] : undefined;
    if (type === undefined) throw new GauntletError('not_found', 'There is nothing at this address');
    return reply.header('content-type', type).send(await readFile(new URL(file, swaggerFolder())));
  });
}

/** In a build, the files are beside the bundle. */
function swaggerFolder(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  if (!isSource) return new URL('./', import.meta.url);
  const path = createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json');
  return new URL('./static/', pathToFileURL(path));
}
