import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import compress from '@fastify/compress';
import fastifyStatic from '@fastify/static';
import { PlantStoreError } from '@plant-store/core';
import { type FastifyInstance, fastify } from 'fastify';
import { builtConsole, isInRepository, repositoryRoot } from './settings.ts';
import { sendJson } from './surfaces/call.ts';

/** Serves the paths that need no token, such as the console, the API reference and the health checks. */
export async function pages(scope: FastifyInstance): Promise<void> {
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.headers(pageHeaders);
    done();
  });
  await scope.register(compress, { encodings: ['br', 'gzip'] });
  await scope.register(fastifyStatic, { serve: false, cacheControl: false });

  scope.get('/livez', (_request, reply) => sendJson(reply, '{"status":"alive"}'));
  scope.get('/readyz', async (_request, reply) => {
    if (scope.isClosing) throw new PlantStoreError('shuttingDown', 'use another instance');
    await scope.store.ready();
    return sendJson(reply, '{"status":"ready"}');
  });

  // Only browsers get the console at `/`. Other clients get 404.
  scope.get('/', ({ headers }, reply) => {
    if (!headers.accept?.includes('text/html')) return reply.callNotFound();
    return reply
      .header('content-security-policy', consolePolicy)
      .sendFile('index.html', builtConsole);
  });
  scope.get<{ Params: { name: string } }>('/console/:name', ({ params: { name } }, reply) => {
    if (!/^[\w-]+\.\w+$/.test(name)) return reply.callNotFound();
    reply.header('cache-control', 'public, max-age=31536000, immutable'); // The name has a hash of the content.
    return reply.sendFile(`console/${name}`, builtConsole);
  });
  scope.get('/openapi.json', (_request, reply) => {
    // Editors and generators in a browser read the document from other origins.
    reply.headers({
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    });
    return reply.sendFile('openapi.json', join(import.meta.dirname, '..'));
  });
  scope.get('/llms.txt', (_request, reply) =>
    reply.sendFile('llms.txt', isInRepository ? repositoryRoot : import.meta.dirname),
  );
  scope.get('/favicon.ico', (_request, reply) => reply.type('image/svg+xml').send(icon));

  let loading: ReturnType<typeof loadReference> | undefined;
  const reference = () => (loading ??= loadReference());
  scope.get('/docs', (_request, reply) => reply.redirect('docs/', 301)); // `docs/` works behind a path prefix.
  scope.get('/docs/', async (_request, reply) => {
    const { page, policy } = await reference();
    return reply
      .header('content-security-policy', policy)
      .type('text/html; charset=utf-8')
      .send(page);
  });
  scope.get('/docs/js/scalar.js', async (_request, reply) => {
    const { script } = await reference();
    return reply.type('text/javascript').header('content-encoding', 'gzip').send(script);
  });
}

const pageHeaders = {
  'cache-control': 'no-cache',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><text y=".9em" font-size="90">🪴</text></svg>';

const consolePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Makes the page and the script of the API reference. Scalar's plugin loads slowly, so the server loads the
 * plugin at the first request for the reference. The script has 4 MB, so it is compressed once.
 */
async function loadReference() {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = fastify();
  await server.register(scalar, { routePrefix: '/docs', configuration });
  const { payload } = await server.inject('/docs/');
  const page = payload.replace('"SERVER"', "new URL('..', location).href.slice(0, -1)");
  const [, inlineScript = ''] = /<script[^<>]*>([^<]+)</.exec(page) ?? [];
  const hash = createHash('sha256').update(inlineScript).digest('base64');
  const policy =
    `default-src 'self'; script-src 'self' 'sha256-${hash}'; style-src 'self' 'unsafe-inline'; ` +
    "img-src 'self' data:; font-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";
  const { rawPayload } = await server.inject('/docs/js/scalar.js');
  return { page, policy, script: await promisify(gzip)(rawPayload) };
}

const configuration = {
  url: '../openapi.json',
  servers: [{ url: 'SERVER' }], // Scalar does not resolve the relative server URL in the document.
  pageTitle: 'Plant Store API',
  favicon: '../favicon.ico',
  // The content security policy blocks Scalar's own services and fonts.
  proxyUrl: '',
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  withDefaultFonts: false,
  showDeveloperTools: 'never' as const,
  hideClientButton: true,
};
