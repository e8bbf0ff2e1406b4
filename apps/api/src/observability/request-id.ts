import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** What a client may call its request: nothing that could be mistaken for more than an id, in a log or a header. */
const requestIdSyntax = /^[\w.:+/=@-]{1,128}$/;

/** The id that a request came with in `X-Request-Id`; a new one where that is missing or not well-formed. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && requestIdSyntax.test(sent) ? sent : randomUUID();
}

/** Tells clients the id under which the log knows their request. */
export function tellRequestIds(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
}
