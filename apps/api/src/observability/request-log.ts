import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Span } from '@opentelemetry/api';
import type { PlantStoreError } from '@plant-store/core';
import { CallerDisconnectedError } from '@plant-store/core/internal';
import { type ErrorKind, httpStatus, shorten } from '@plant-store/schemas';
import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type onRequestHookHandler,
} from 'fastify';
import type { Metrics } from './metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The errors that the client got. A batch may get several errors. Set by `logError`. */
    errors?: PlantStoreError[];
    /** The request's span, when the server traces requests. Set by OpenTelemetry's plugin. */
    span?: Span | undefined;
  }
}

/** The status in the log when a client disconnected before its response. nginx logs the same status. */
const clientDisconnected = 499;

/** Load balancers request these two paths every few seconds, so these requests have the log level debug. */
const probes = new Set(['/livez', '/readyz']);

/** Logs and counts each request once, when its response has ended. */
export class RequestLog extends LogController {
  readonly #log: FastifyBaseLogger;
  readonly #metrics: Metrics | undefined;

  constructor(log: FastifyBaseLogger, metrics?: Metrics) {
    super();
    this.#log = log;
    this.#metrics = metrics;
  }

  override incomingRequest(_request: FastifyRequest, reply: FastifyReply): void {
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) this.#connectionLost(reply);
    });
  }

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    this.#add(request, reply.statusCode, reply.elapsedTime);
  }

  /** Logs a request whose connection closed before its response was sent. */
  #connectionLost({ request, elapsedTime, raw, statusCode }: FastifyReply): void {
    const { waitsFrom, errors: [first] = [] } = request;
    // Clients usually disconnect to end a wait for changes, so the log has the response's status, not 499.
    const isWait = waitsFrom !== undefined;
    const ended = isWait ? statusCode : clientDisconnected;
    const status = isWait && raw.headersSent ? statusCode : first ? httpStatus(first.kind) : ended;
    this.#add(request, status, elapsedTime);
  }

  override streamError(error: Error, request: FastifyRequest): void {
    const hasDisconnected = 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (hasDisconnected) return;
    this.#log.warn({ ...idsOf(request), err: error }, 'a response was cut off');
  }

  #add(request: FastifyRequest, status: number, milliseconds: number): void {
    const { headers, routeOptions, waitsFrom, errors, ip, principal, databaseTime } = request;
    this.#metrics?.countRequest(request, status, (waitsFrom ?? milliseconds) / 1_000);
    const isProbe = status === 200 && probes.has(routeOptions.url ?? '');
    const agent = headers['user-agent'];
    this.#log[isProbe ? 'debug' : 'info'](
      {
        ...idsOf(request),
        ...describeRequest(request),
        route: routeOptions.url,
        status,
        errorCode: errors?.[0]?.code,
        // When a connection closes very early, Node does not know the client's address.
        ip: ip && showText(ip),
        userAgent: agent && showText(agent),
        principal: principal && shorten(principal.name),
        issuer: principal?.issuer,
        responseTime: rounded(milliseconds),
        databaseTime: databaseTime > 0 ? rounded(databaseTime) : undefined,
      },
      'request',
    );
  }
}

const rounded = (milliseconds: number) => Math.round(milliseconds * 10) / 10;

/** Returns the log fields that name a request, and its span when the server traces requests. */
function idsOf({ id, span }: FastifyRequest) {
  const context = span?.spanContext();
  return { reqId: id, ...(context && { trace_id: context.traceId, span_id: context.spanId }) };
}

/** The request that failed, or the connection that failed before Fastify got a request. */
type ErrorSource = FastifyRequest | { id: string; ip: string | undefined };

/**
 * Adds the code of an error to the request's log line, and logs the cause of a server error. The store also
 * drops the work of a client that has disconnected, which is no error of the server.
 */
export type LogError = (error: PlantStoreError, source?: ErrorSource) => void;

/** Milliseconds between two log lines for the same kind of error. Bugs are always logged. */
const quietPeriod = 1_000;

export function createErrorLog(log: FastifyBaseLogger): LogError {
  const quietUntil = new Map<ErrorKind, number>();

  return (error, source) => {
    const { kind, code: errorCode, message, cause } = error;
    const status = httpStatus(kind);
    if (cause instanceof CallerDisconnectedError) return;
    const request = source && 'raw' in source ? source : undefined;
    if (request) {
      // An incomplete request that has failed fails again when its connection closes.
      if (request.errors && !request.raw.complete) return;
      request.errors = [...(request.errors ?? []), error];
    } else if (source) {
      log.info({ reqId: source.id, status, errorCode, ip: source.ip }, 'rejected');
      return;
    }
    const details = { ...(request && idsOf(request)), errorCode, err: cause ?? error };
    if (kind === 'internal') return log.error(details, message);
    // Status 501 means that a client asks a read replica for its feed. An invalid token has a cause when the
    // identity provider has a key that cannot be used.
    const isServerError = status >= 500 && kind !== 'notImplemented';
    const isBadKey = kind === 'tokenInvalid' && cause instanceof Error;
    const isQuiet = performance.now() < (quietUntil.get(kind) ?? 0);
    if (isQuiet || !(isServerError || isBadKey)) return;
    quietUntil.set(kind, performance.now() + quietPeriod);
    log.warn(details, isBadKey ? cause.message : message);
  };
}

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

/**
 * Shortens a text that a client sent, for a response or the log. Replaces access tokens in the text,
 * because the client may have put its token in the wrong place.
 */
export function showText(text: string): string {
  return hideTokens(shorten(text));
}

export function hideTokens(text: string): string {
  return text.replaceAll(tokens, '…');
}

/**
 * Matches JWTs and the store's tokens, even percent-encoded tokens. An expression that matches each part of
 * a JWT would not run in linear time.
 */
const tokens = /plant(?:_|%(?:25)*5[fF])[\w-]{8,}|eyJ[\w.-]{8,}/g;
