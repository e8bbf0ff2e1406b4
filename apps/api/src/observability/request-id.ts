import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { onRequestHookHandler } from 'fastify';
import { hideTokens } from '../errors/http-error.ts';

/** Characters that are safe in a log line and in a header. */
const requestIdSyntax = /^[\w.:+/=@-]{1,128}$/;

/**
 * Returns the client's `X-Request-Id`, or a new id when that is missing, is not well-formed or contains an
 * access token.
 */
export function requestIdOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  if (typeof sent !== 'string' || !requestIdSyntax.test(sent)) return randomUUID();
  const token = headers.authorization?.split(' ').at(-1);
  const hasToken = hideTokens(sent) !== sent || (token && sent.includes(token));
  return hasToken ? randomUUID() : sent;
}

/** A hook that sends the request's id, which the request's log lines have too. */
export const sendRequestId: onRequestHookHandler = (request, reply, done) => {
  reply.header('x-request-id', request.id);
  done();
};
