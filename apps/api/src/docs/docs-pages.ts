import { createHash } from 'node:crypto';
import helmet from '@fastify/helmet';
import scalar from '@scalar/fastify-api-reference';
import { type FastifyInstance, fastify } from 'fastify';
import { handleError } from '../http/error-reply.ts';
import { sendJsonText } from '../http/json-reply.ts';
import { rejectUnknownRoute } from '../http/unknown-route.ts';
import { errorPage } from './error-page.ts';
import { openApiDocument } from './openapi-document.ts';

/**
 * Serves `/openapi.json`, its API reference at `/docs`, and the meaning of each error at
 * `/docs/errors`. The pages load nothing from other origins.
 */
export async function buildDocsPages(): Promise<FastifyInstance> {
  const scope = fastify();
  scope.decorate('logError', () => {}); // The outer server logs the request.
  scope.setErrorHandler(handleError);
  scope.addHook('onRequest', rejectUnknownRoute(scope));
  const document = JSON.stringify(openApiDocument());
  scope.get('/openapi.json', (_request, reply) => sendJsonText(reply, document));

  await scope.register(helmet, { contentSecurityPolicy: false });
  scope.addHook('onSend', async (_request, reply, payload) => {
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
    if (isPage) reply.header('content-security-policy', contentSecurityPolicy(String(payload)));
  });
  const errors = errorPage();
  scope.get('/docs/errors', (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(errors),
  );
  scope.get('/favicon.ico', (_request, reply) => reply.type('image/svg+xml').send(icon));
  await scope.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Plant Store API',
      withDefaultFonts: false,
      proxyUrl: '',
      telemetry: false,
      // Scalar's own services need other origins.
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
    },
  });
  return scope;
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><text y=".9em" font-size="90">🪴</text></svg>';

/** Allows a page only its own scripts: files by their origin, inline scripts by their hash. */
function contentSecurityPolicy(html: string): string {
  const inline = [...html.matchAll(/<script[^>]*>([^<]+)<\/script>/g)].map(
    ([, script = '']) => script,
  );
  const hashes = inline.map(
    (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [
    "default-src 'self'",
    `script-src 'self' ${hashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
