import type { Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import { sendError, toReplyError } from '../http/error-replies.ts';
import { clientErrorHandler } from './node-errors.ts';
import { requestIdOf } from '../observability/request-id.ts';
import { logRefusal } from '../observability/request-log.ts';

/** How Node's server and Fastify's router are to behave; `requestTimeout` in milliseconds. */
export function nodeServerOptions(requestTimeout = 30_000): FastifyHttpOptions<Server> {
  // How often the time-outs are looked at; Node's own 30 s would be the time-out itself.
  const connectionsCheckingInterval = Math.min(1_000, requestTimeout);
  return {
    bodyLimit: 1024 * 1024,
    requestTimeout,
    // A connection on which nothing moves, such as one whose answers nobody reads. A request that is
    // not sent completely is answered before.
    connectionTimeout: requestTimeout + 2 * connectionsCheckingInterval,
    genReqId: requestIdOf,
    http: {
      headersTimeout: requestTimeout,
      connectionsCheckingInterval,
      // Checked in a hook instead, since Node answers without a body.
      requireHostHeader: false,
    },
    // While the server closes, requests on open connections are still served.
    return503OnClosing: false,
    // A server must take the absolute form of a request's target too (RFC 9112 §3.2.2).
    rewriteUrl: ({ url = '/' }) => url.replace(/^https?:\/\/[^/?#]*\/?/i, '/'),
    clientErrorHandler,
    frameworkErrors: (error, { server, id, ip }, reply) => {
      const failure = toReplyError(error);
      logRefusal(server, { id, ip }, failure);
      return sendError(reply.header('x-request-id', id), failure);
    },
  };
}
