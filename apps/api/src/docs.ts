import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * The pages of the documentation and the document that they are made of. They are loaded when they
 * are first asked for: they would take a third of every start, and most servers are never asked.
 */
export async function docs(scope: FastifyInstance): Promise<void> {
  let pages: Promise<FastifyInstance> | undefined;

  const answer = async ({ method, url }: FastifyRequest, reply: FastifyReply) => {
    pages ??= import('./docs-pages.ts').then(({ buildDocsPages }) => buildDocsPages());
    const page = await (await pages).inject({ method: method === 'HEAD' ? 'HEAD' : 'GET', url });
    const headers = Object.entries(page.headers).filter(([name]) => !ownHeaders.has(name));
    return reply.code(page.statusCode).headers(Object.fromEntries(headers)).send(page.rawPayload);
  };
  for (const path of ['/docs', '/docs/*', '/openapi.json', '/favicon.ico']) scope.get(path, answer);
}

/** Those of the connection, which the server sets itself. */
const ownHeaders = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);
