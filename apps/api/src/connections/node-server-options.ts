import type { Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import { bodyLimit } from '../errors/http-error.ts';
import { requestIdOf } from '../observability/request-log.ts';
import { clientErrorHandler } from './node-errors.ts';
import { maxHeaderSize } from './raw-response.ts';
import { routerUrl } from './request-target.ts';

/** The most connections that wait until the server accepts them. Node's default, 511, delays many clients. */
export const backlog = 4096;

/** @param requestTimeout in milliseconds */
export function nodeServerOptions(requestTimeout = 30_000): FastifyHttpOptions<Server> {
  // Node checks its timeouts at this interval. Node's default of 30 s is as long as the request timeout.
  const connectionsCheckingInterval = Math.min(1_000, requestTimeout);
  return {
    bodyLimit,
    requestTimeout,
    // Node closes a connection that has been inactive for this time. Node waits twice as long while the
    // client does not read its response. The timeout for inactive connections is longer than the request
    // timeout, so that an incomplete request gets its error first.
    connectionTimeout: requestTimeout + 2 * connectionsCheckingInterval,
    genReqId: requestIdOf,
    // By default, Fastify limits path parameters to 100 characters. A longer parameter must get the error of
    // other invalid parameters.
    routerOptions: { maxParamLength: maxHeaderSize },
    http: {
      headersTimeout: requestTimeout,
      connectionsCheckingInterval,
      // A hook checks `Host`, because Node's own error response has no body.
      requireHostHeader: false,
    },
    // The server responds to requests on open connections even while the server closes.
    return503OnClosing: false,
    rewriteUrl: routerUrl,
    clientErrorHandler,
  };
}
