import type { Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import { bodyLimit } from '../errors/http-error.ts';
import { requestIdOf } from '../observability/request-log.ts';
import { clientErrorHandler } from './node-errors.ts';
import { maxHeaderSize } from './raw-response.ts';

/**
 * Connections that may wait to be accepted. Node's default is 511; connections beyond it in a burst
 * wait for seconds.
 */
export const backlog = 4096;

/**
 * The options of Node's HTTP server and of Fastify's router. `requestTimeout` is in milliseconds.
 */
export function nodeServerOptions(requestTimeout = 30_000): FastifyHttpOptions<Server> {
  // Node checks its timeouts at this interval; its default of 30 s is as long as the timeout
  // itself.
  const connectionsCheckingInterval = Math.min(1_000, requestTimeout);
  return {
    bodyLimit,
    requestTimeout,
    // Closes an inactive connection. Node waits twice as long while it has bytes that the client does
    // not read. It is longer than the request timeout, so that an incomplete request gets its error first.
    connectionTimeout: requestTimeout + 2 * connectionsCheckingInterval,
    genReqId: requestIdOf,
    // A path parameter over Fastify's limit of 100 characters is invalid. It must get the same
    // error as other invalid ones.
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
