import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import helmet from '@fastify/helmet';
import { formatJson } from '@plant-store/schemas';
import scalar from '@scalar/fastify-api-reference';
import { type FastifyInstance, fastify } from 'fastify';
import { compressReply } from '../http/compression.ts';
import { handleError } from '../http/error-reply.ts';
import { sendJsonText } from '../http/json-reply.ts';
import { rejectUnknownRoute } from '../http/unknown-route.ts';
import { errorPage } from './error-page.ts';
import { openApiDocument } from './openapi-document.ts';

/**
 * Serves `/openapi.json`, its API reference at `/docs/`, and the meaning of each error at
 * `/docs/errors`. The pages load nothing from other origins.
 *
 * Every address is relative, so that the pages work behind a path prefix. Addresses in the API
 * reference are relative to `/docs`, where `docs` serves it: the document's own addresses are then
 * right on that page, too.
 */
export async function buildDocsPages(): Promise<FastifyInstance> {
  const scope = fastify();
  scope.decorate('logError', () => {}); // The outer server logs the request.
  scope.setErrorHandler(handleError);
  scope.addHook('onRequest', rejectUnknownRoute(scope));

  await scope.register(helmet, { contentSecurityPolicy: false });
  scope.addHook('onSend', async ({ routeOptions }, reply, payload) => {
    const isReference = routeOptions.url === '/docs/';
    const content = isReference ? completeReference(String(payload)) : String(payload);
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
    if (isPage) reply.header('content-security-policy', contentSecurityPolicy(content));
    reply.headers({ etag: etagOf(content), 'cache-control': 'no-cache' });
    return content;
  });
  scope.addHook('onSend', compressReply);
  const document = formatJson(openApiDocument());
  scope.get('/openapi.json', (_request, reply) =>
    sendJsonText(reply.headers(readableByAnyOrigin), document),
  );
  const errors = errorPage();
  scope.get('/docs/errors', (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(errors),
  );
  scope.get('/llms.txt', async (_request, reply) =>
    reply
      .type('text/plain; charset=utf-8')
      .send(await readFile(new URL('../../../../llms.txt', import.meta.url), 'utf8')),
  );
  scope.get('/favicon.ico', (_request, reply) => reply.type('image/svg+xml').send(icon));
  await scope.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      url: 'openapi.json',
      cdn: 'docs/js/scalar.js',
      servers: [{ url: storeAddress }],
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

/** An expression in JavaScript, relative to `/docs`. */
const storeAddress = "new URL('.', location).href.slice(0, -1)";

/**
 * Lets the API reference compute the address of the store: Scalar sends its requests to the wrong
 * address when a server's URL is relative and has no slash at its start. Adds the icon, which Scalar
 * would load again and again.
 */
function completeReference(html: string): string {
  return html
    .replace(JSON.stringify(storeAddress), storeAddress)
    .replace('</title>', '</title>\n    <link rel="icon" href="favicon.ico" />');
}

/** The document is public, and holds no data. */
const readableByAnyOrigin = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
};

function etagOf(payload: string): string {
  return `"${createHash('sha256').update(payload).digest('base64url')}"`;
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
