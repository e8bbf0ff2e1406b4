import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type FastifyInstance, fastify } from 'fastify';
import { isInRepository, outsideFile, packedReferenceScript } from '../repository.ts';
import { createStaticFile, loadOnce, sendFile } from './static-file.ts';

/**
 * Serves the API reference at `/docs`, and the OpenAPI document. The page loads nothing from other origins. All
 * addresses in the page are relative to `/docs`, so that the page works behind a path prefix.
 */
export async function docs(scope: FastifyInstance): Promise<void> {
  for (const [path, read] of Object.entries(files)) {
    const load = loadOnce(async () => {
      const { body, ...headers } = await read();
      return createStaticFile(body, { ...commonHeaders, ...headers });
    });
    scope.get(path, async (request, reply) => sendFile(request, reply, await load()));
  }
  scope.get('/docs/', (_request, reply) => reply.redirect('../docs', 301));
}

const files = {
  '/docs': () => page('../../src/pages/reference.html'),
  '/docs/js/scalar.js': async () => ({
    body: await referenceScript(),
    'content-type': 'text/javascript; charset=utf-8',
  }),
  '/openapi.json': async () => ({
    body: await readFile(new URL('../../openapi.json', import.meta.url)),
    'content-type': 'application/json',
    'access-control-allow-origin': '*', // Editors and generators that run in a browser read the document.
    'cross-origin-resource-policy': 'cross-origin',
  }),
  '/llms.txt': async () => ({
    body: await readFile(outsideFile('llms.txt')),
    'content-type': 'text/plain; charset=utf-8',
  }),
  '/favicon.ico': async () => ({ body: Buffer.from(icon), 'content-type': 'image/svg+xml' }),
};

const commonHeaders = {
  'cache-control': 'no-cache',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
};

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><text y=".9em" font-size="90">🪴</text></svg>';

async function page(file: string) {
  const body = await readFile(new URL(file, import.meta.url));
  return {
    body,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': contentSecurityPolicy(body.toString()),
  };
}

/**
 * Returns Scalar's script for browsers. In the repository, the script is a file of Scalar's plugin. The
 * published package has a copy of the script, because the plugin would install 20 further packages.
 */
export async function referenceScript(): Promise<Buffer> {
  if (!isInRepository) return readFile(packedReferenceScript);
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = fastify();
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: 'openapi.json' } });
  return (await server.inject('/docs/js/scalar.js')).rawPayload;
}

/** Allows only the page's own scripts: files from the same origin, and inline scripts with a known hash. */
function contentSecurityPolicy(html: string): string {
  const scripts = [...html.matchAll(/<script>([^<]+)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [
    "default-src 'self'",
    `script-src ${["'self'", ...scripts].join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
