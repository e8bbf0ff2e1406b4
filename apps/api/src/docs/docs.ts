import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  LightMyRequestResponse,
} from 'fastify';
import { codingOf } from '../http/compression.ts';

/**
 * The pages of the documentation and their OpenAPI document. They are loaded on the first request for
 * one of them: they would take a third of every start, and most servers never need them.
 */
export async function docs(scope: FastifyInstance): Promise<void> {
  let pages: Promise<FastifyInstance> | undefined;
  // The reference is several megabytes. One shared copy keeps waiting replies from filling the memory.
  const cache = new Map<string, LightMyRequestResponse>();

  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const { url, routeOptions, params } = request;
    pages ??= loadPages().catch((error) => {
      pages = undefined; // The next request loads them again.
      throw error;
    });
    const coding = codingOf(request, reply) ?? 'identity';
    const key = JSON.stringify([routeOptions.url, params, coding]); // Decoded, because a page has many URLs.
    const innerUrl = routeOptions.url === '/docs' ? '/docs/' : url; // Where Scalar has its page.
    const headers = { 'accept-encoding': coding };
    const page = cache.get(key) ?? (await (await pages).inject({ url: innerUrl, headers }));
    if (page.statusCode === 200) cache.set(key, page);
    const kept = Object.entries(page.headers).filter(([name]) => !connectionHeaders.has(name));
    reply.code(page.statusCode).headers(Object.fromEntries(kept));
    if (isCached(request, page)) return reply.code(304).removeHeader('content-length').send();
    return reply.send(page.rawPayload);
  };
  for (const path of ['/docs', '/docs/*', '/openapi.json', '/llms.txt', '/favicon.ico']) {
    scope.get(path, sendPage);
  }
  // The addresses on the page are relative to `/docs`.
  scope.get('/docs/', (_request, reply) => reply.redirect('../docs', 301));
}

async function loadPages(): Promise<FastifyInstance> {
  const { buildDocsPages } = await import('./docs-pages.ts');
  return buildDocsPages();
}

/** Whether the client has this page already (RFC 9110 §13.1.2). */
function isCached({ headers }: FastifyRequest, page: LightMyRequestResponse): boolean {
  if (page.statusCode !== 200) return false;
  const tags = headers['if-none-match']?.split(',').map((tag) => withoutWeakness(tag.trim()));
  const etag = withoutWeakness(String(page.headers.etag));
  return tags?.some((tag) => tag === '*' || tag === etag) ?? false;
}

const withoutWeakness = (tag: string) => tag.replace(/^W\//, '');

/** The outer server sets these itself. */
const connectionHeaders = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);
