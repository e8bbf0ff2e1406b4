import type { Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import { bodyLimit } from '../errors/http-error.ts';
import { requestIdOf } from '../observability/request-log.ts';
import { clientErrorHandler } from './node-errors.ts';
import { maxHeaderSize } from './raw-response.ts';
import { routerUrl } from './request-target.ts';

/** The maximum number of connections that wait until the server accepts them. Node's default, 511, delays many clients. */
export const backlog = 4096;

/** @param requestTimeout in milliseconds */
export function nodeServerOptions(requestTimeout = 30_000): FastifyHttpOptions<Server> {
  // Node checks its timeouts at this interval. With Node's default, a timeout could come 30 s late.
  const connectionsCheckingInterval = Math.min(1_000, requestTimeout);
  return {
    bodyLimit,
    requestTimeout,
    // Node closes a connection after this time without activity, or after twice this time when the client
    // does not read its response. This time is longer than the request timeout, so that the client of an
    // incomplete request first gets an error.
    connectionTimeout: requestTimeout + 2 * connectionsCheckingInterval,
    genReqId: requestIdOf,
    // By default, Fastify limits path parameters to 100 characters. A longer parameter must get the same
    // error as any other invalid parameter.
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
