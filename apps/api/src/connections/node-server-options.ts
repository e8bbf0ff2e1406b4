import type { Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import { bodyLimit } from '../errors/http-error.ts';
import { requestIdOf } from '../observability/request-log.ts';
import { clientErrorHandler } from './node-errors.ts';
import { maxHeaderSize } from './raw-response.ts';

/** Connections that wait to be accepted. With Node's default of 511, a burst waits for seconds. */
export const backlog = 4096;

/** @param requestTimeout in milliseconds */
export function nodeServerOptions(requestTimeout = 30_000): FastifyHttpOptions<Server> {
  // Node checks its timeouts at this interval. The default of 30 s is as long as the timeout itself.
  const connectionsCheckingInterval = Math.min(1_000, requestTimeout);
  return {
    bodyLimit,
    requestTimeout,
    // After this time, Node closes an inactive connection. Node waits twice as long while the client does
    // not read its response. This time is longer than the request timeout, so that an incomplete request
    // gets its error first.
    connectionTimeout: requestTimeout + 2 * connectionsCheckingInterval,
    genReqId: requestIdOf,
    // A path parameter over Fastify's limit of 100 characters is invalid. Such a parameter must get the
    // same error as other invalid parameters.
    routerOptions: { maxParamLength: maxHeaderSize },
    http: {
      headersTimeout: requestTimeout,
      connectionsCheckingInterval,
      // A hook checks this instead, because Node's response has no body.
      requireHostHeader: false,
    },
    // While the server closes, requests on open connections are still served.
    return503OnClosing: false,
    // A server must accept the absolute form of a request target (RFC 9112 §3.2.2).
    rewriteUrl: ({ url = '/' }) => url.replace(/^https?:\/\/[^/?#]*\/?/i, '/'),
    clientErrorHandler,
  };
}
