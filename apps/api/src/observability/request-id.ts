import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { onRequestHookHandler } from 'fastify';

/** Characters that are safe in a log line and in a header. */
const requestIdSyntax = /^[\w.:+/=@-]{1,128}$/;

/** Returns the client's `X-Request-Id`, or a new id when that is missing or not well-formed. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && requestIdSyntax.test(sent) ? sent : randomUUID();
}

/** A hook that sends the request's id, which the request's log lines have too. */
export const sendRequestId: onRequestHookHandler = (request, reply, done) => {
  reply.header('x-request-id', request.id);
  done();
};
