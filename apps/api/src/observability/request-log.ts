import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Principal } from '@plant-store/core';
import { shorten } from '@plant-store/schemas';
import {
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type onRequestHookHandler,
} from 'fastify';
import type { DestinationStream, Logger } from 'pino';
import { hideTokens, showText } from '../errors/http-error.ts';
import { processBindings } from './log-output.ts';
import type { Metrics } from './metrics.ts';
import { endWithStatus, traceIds } from './tracing/end-span.ts';

/** The status in the log when a client disconnected before its response. nginx logs the same status. */
const clientDisconnected = 499;

interface RequestLogOptions {
  log: Logger;
  stream: DestinationStream;
  metrics?: Metrics | undefined;
}

/** Logs, counts and traces each request once. */
export class RequestLog extends LogController {
  readonly #options: RequestLogOptions;
  readonly #names = new WeakMap<Principal, string>();

  constructor(options: RequestLogOptions) {
    super();
    this.#options = options;
  }

  override incomingRequest(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    this.#add(request, reply.statusCode, reply.elapsedTime);
  }

  /** Logs a request whose connection closed before its response was sent. */
  connectionLost({ request, elapsedTime, raw, statusCode }: FastifyReply): void {
    const { waitsFrom, errors } = request;
    // Clients usually disconnect to end a wait for changes, so the log has the response's status, not 499.
    const isWait = waitsFrom !== undefined;
    const ended = isWait ? statusCode : clientDisconnected;
    const status = isWait && raw.headersSent ? statusCode : (errors?.[0]?.status ?? ended);
    this.#add(request, status, elapsedTime);
  }

  override streamError(error: Error, request: FastifyRequest): void {
    const hasDisconnected = 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (hasDisconnected) return;
    const details = { reqId: request.id, ...traceIds(request), err: error };
    this.#options.log.warn(details, 'a response was cut off');
  }

  #add(request: FastifyRequest, status: number, milliseconds: number): void {
    const { log, stream, metrics } = this.#options;
    metrics?.countRequest(request, status, request.waitsFrom ?? milliseconds);
    request.span?.setAttribute('http.response.status_code', status);
    endWithStatus(request.span, status);
    const isProbe = status === 200 && probes.has(request.routeOptions.url ?? '');
    const level = isProbe ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    stream.write(this.#line(request, log.levels.values[level] ?? 0, status, milliseconds));
  }

  /** Caches the log fields of each principal, because most requests of a client have the same principal. */
  #nameOf(principal: Principal): string {
    const known = this.#names.get(principal);
    if (known !== undefined) return known;
    const { name, scopes, issuer } = principal;
    const from = issuer === undefined ? '' : `,"issuer":${JSON.stringify(issuer)}`;
    const fields = `,"principal":${JSON.stringify(shorten(name))}${from},"scope":"${scopes.join(' ')}"`;
    this.#names.set(principal, fields);
    return fields;
  }

  /**
   * Makes the same log line as pino, but faster. The request id and the method need no JSON escapes, because
   * `requestIdOf` and Node's parser have checked them.
   */
  #line(request: FastifyRequest, level: number, status: number, milliseconds: number): string {
    const { id, ip, errors, principal, headers, routeOptions, databaseTime } = request;
    const { method, path } = describeRequest(request);
    const ids = traceIds(request);
    const trace = ids ? `,"trace_id":"${ids.trace_id}","span_id":"${ids.span_id}"` : '';
    const route = routeOptions.url === undefined ? '' : `,"route":"${routeOptions.url}"`;
    const codes = errors ? `,"errorCode":${errors[0]?.code}` : '';
    const all =
      errors && errors.length > 1 ? `,"errorCodes":[${errors.map(({ code }) => code)}]` : '';
    const agent = headers['user-agent'];
    const userAgent = agent ? `,"userAgent":${JSON.stringify(showText(agent))}` : '';
    // When a connection closes very early, Node does not know the client's address.
    const address = JSON.stringify(ip ? showText(ip) : null);
    const name = principal ? this.#nameOf(principal) : '';
    const database = databaseTime > 0 ? `,"databaseTime":${rounded(databaseTime)}` : '';
    return (
      `{"level":${level},"time":${Date.now()},${processBindings},"reqId":"${id}"${trace},` +
      `"method":"${method}","path":${JSON.stringify(path)}${route},"status":${status}${codes}${all},` +
      `"ip":${address}${userAgent}${name},"responseTime":${rounded(milliseconds)}${database},` +
      `"msg":"request"}\n`
    );
  }
}

const rounded = (milliseconds: number) => Math.round(milliseconds * 10) / 10;

/** Load balancers request these two paths every few seconds, so these requests have the log level debug. */
const probes = new Set(['/livez', '/readyz']);

export const serializers = {
  err: describeError,
  req: describeRequest,
  res: ({ statusCode }: FastifyReply) => ({ status: statusCode }),
};

function describeRequest({ method, url }: FastifyRequest) {
  // The log omits the query of the URL, because the query may contain the client's token.
  return { method, path: showText(url.split('?', 1)[0] ?? '') };
}

/**
 * Describes an error without its stack. Drizzle's messages contain SQL and values, so this function describes
 * the cause of a Drizzle error.
 */
function describeError(error: Error): Record<string, unknown> {
  const source = error.cause instanceof Error && 'query' in error ? error.cause : error;
  return {
    type: source.name,
    message: source.message,
    ...('code' in source && { code: source.code }),
    at: placeOf(source),
    ...(source.cause instanceof Error && { cause: describeError(source.cause) }),
  };
}

/** The place in the code that threw the error, such as `creates.ts:97`. */
function placeOf({ stack = '' }: Error): string | undefined {
  return /[/\\]([\w.-]+\.[cm]?[jt]s:\d+):\d+\)?$/m.exec(stack)?.[1];
}

/** Matches a request id whose characters are safe in a log line and in a header. */
const requestIdSyntax = /^[\w.:+/=@-]{1,128}$/;

/**
 * Returns the client's `X-Request-Id`, or a new id when this header is missing, malformed, or contains an
 * access token.
 */
export function requestIdOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  if (typeof sent !== 'string' || !requestIdSyntax.test(sent)) return randomUUID();
  const token = headers.authorization?.split(' ').at(-1);
  const hasToken = hideTokens(sent) !== sent || (token && sent.includes(token));
  return hasToken ? randomUUID() : sent;
}

/** A hook that sends the request id. The log lines of the request contain the same id. */
export const sendRequestId: onRequestHookHandler = (request, reply, done) => {
  reply.header('x-request-id', request.id);
  done();
};
