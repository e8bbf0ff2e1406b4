import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  LightMyRequestResponse,
} from 'fastify';

/**
 * The pages of the documentation and the document that they are made of. They are loaded when they
 * are first asked for: they would take a third of every start, and most servers are never asked.
 */
export async function docs(scope: FastifyInstance): Promise<void> {
  let pages: Promise<FastifyInstance> | undefined;
  // The reference has megabytes. All who ask for it share one copy, so that the answers that wait to
  // be read take no memory.
  const kept = new Map<string, LightMyRequestResponse>();

  const answer = async ({ url, routeOptions, params }: FastifyRequest, reply: FastifyReply) => {
    pages ??= import('./docs-pages.ts').then(({ buildDocsPages }) => buildDocsPages());
    const key = JSON.stringify([routeOptions.url, params]); // Decoded: a page has many URLs.
    const page = kept.get(key) ?? (await (await pages).inject(url));
    if (page.statusCode === 200) kept.set(key, page);
    const headers = Object.entries(page.headers).filter(([name]) => !ownHeaders.has(name));
    return reply.code(page.statusCode).headers(Object.fromEntries(headers)).send(page.rawPayload);
  };
  for (const path of ['/docs', '/docs/*', '/openapi.json', '/favicon.ico']) scope.get(path, answer);
}

/** Those of the connection, which the server sets itself. */
const ownHeaders = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);
