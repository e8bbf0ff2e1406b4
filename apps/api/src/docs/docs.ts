import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  LightMyRequestResponse,
} from 'fastify';

/**
 * The pages of the documentation and their OpenAPI document. They are loaded on the first request for
 * one of them: they would take a third of every start, and most servers never need them.
 */
export async function docs(scope: FastifyInstance): Promise<void> {
  let pages: Promise<FastifyInstance> | undefined;
  // The reference is several megabytes. One shared copy keeps waiting replies from filling the memory.
  const cache = new Map<string, LightMyRequestResponse>();

  const sendPage = async ({ url, routeOptions, params }: FastifyRequest, reply: FastifyReply) => {
    pages ??= import('./docs-pages.ts').then(({ buildDocsPages }) => buildDocsPages());
    const key = JSON.stringify([routeOptions.url, params]); // Decoded, because a page has many URLs.
    const page = cache.get(key) ?? (await (await pages).inject(url));
    if (page.statusCode === 200) cache.set(key, page);
    const headers = Object.entries(page.headers).filter(([name]) => !connectionHeaders.has(name));
    return reply.code(page.statusCode).headers(Object.fromEntries(headers)).send(page.rawPayload);
  };
  for (const path of ['/docs', '/docs/*', '/openapi.json', '/favicon.ico']) {
    scope.get(path, sendPage);
  }
}

/** The outer server sets these itself. */
const connectionHeaders = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);
