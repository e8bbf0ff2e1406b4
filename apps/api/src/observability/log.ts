import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Span } from '@opentelemetry/api';
import type { PlantStoreError } from '@plant-store/core';
import { databaseCode, outcomeOf } from '@plant-store/core/internal';
import { explainDatabaseError } from '@plant-store/core/operator';
import { type ErrorKind, httpStatus, shorten } from '@plant-store/schemas';
import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type onRequestHookHandler,
} from 'fastify';
import type { DestinationStream } from 'pino';
import sonicBoom from 'sonic-boom';
import type { Metrics } from './metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The errors that the client got. A batch may get several errors. Set by `logError`. */
    errors?: PlantStoreError[];
    /** The span of the request, if the server traces requests. Set by `startTracing`. */
    span?: Span | undefined;
  }
}

/** Monitors request these paths often. Such a request has no span, and its log level is debug if its status is 200. */
export const probes = new Set(['/livez', '/readyz', '/metrics']);

/** Makes Fastify log and count each request once, when its response has closed. */
export function requestLog(log: FastifyBaseLogger, metrics?: Metrics): LogController {
  const controller = new LogController({ disableRequestLogging: true });
  controller.incomingRequest = (_request: FastifyRequest, reply: FastifyReply) => {
    reply.raw.once('close', () => logRequest(reply, log, metrics));
  };
  return controller;
}

/** One logger for all requests is cheaper than a child logger for each request. */
export const oneLogger = (logger: FastifyBaseLogger) => logger;

function logRequest(reply: FastifyReply, log: FastifyBaseLogger, metrics?: Metrics): void {
  const { request, elapsedTime } = reply;
  const { method, url, routeOptions, headers, waitsFrom, errors, ip, principal } = request;
  const status = statusOf(reply);
  metrics?.countRequest(request, status, (waitsFrom ?? elapsedTime) / 1_000);
  const isProbe = status === 200 && probes.has(routeOptions.url ?? '');
  const agent = headers['user-agent'];
  log[isProbe ? 'debug' : 'info'](
    {
      ...idsOf(request),
      method,
      path: pathOf(url),
      route: routeOptions.url,
      status,
      errorCode: errors?.[0]?.code,
      ip: ip && showText(ip), // `ip` is undefined when the connection closed very early.
      userAgent: agent && showText(agent),
      principal: principal ? shorten(principal.name) : undefined,
      issuer: principal?.issuer,
      responseTime: Math.round(elapsedTime * 10) / 10,
    },
    'request',
  );
}

/**
 * Returns the path of a URL for logs, traces and errors. The query is left out, because the query may contain a
 * token or the content of a plant. A target that is a whole URL is hidden, because the URL may contain a password.
 */
export function pathOf(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path.includes('://') ? 'a URL' : showText(path);
}

/** Returns the status for the log. After a disconnect without an error, the status is 499, as nginx logs it. */
function statusOf({ raw, statusCode, request: { waitsFrom, errors } }: FastifyReply): number {
  // Clients usually end a wait for changes by a disconnect, so such a request keeps the status of its response.
  if (raw.writableFinished || (waitsFrom !== undefined && raw.headersSent)) return statusCode;
  const [error] = errors ?? [];
  if (error) return httpStatus(error.kind);
  return waitsFrom === undefined ? 499 : statusCode;
}

/** Returns the log fields that name a request, and its span when the server traces requests. */
function idsOf({ id, span }: FastifyRequest) {
  const context = span?.spanContext();
  return { reqId: id, trace_id: context?.traceId, span_id: context?.spanId };
}

/** Adds an error to its request's log line, or logs the rejected connection. Logs the cause of a server error. */
export type LogError = (
  error: PlantStoreError,
  source?: FastifyRequest | { id: string; ip: string | undefined },
) => void;

/** Logs each bug, and other server errors at most once a second for each kind. */
export function createErrorLog(log: FastifyBaseLogger): LogError {
  const quietUntil = new Map<ErrorKind, number>();

  return (error, source) => {
    const { kind, code: errorCode, message, cause } = error;
    if (outcomeOf(error) === 'abandoned') return; // Nobody waits for the response.
    const status = httpStatus(kind);
    const request = source && 'raw' in source ? source : undefined;
    if (request) {
      // After an error in the middle of a body, Fastify reports the closed connection as a second error.
      if (request.errors && !request.raw.complete) return;
      request.errors = [...(request.errors ?? []), error];
    } else if (source) {
      return log.info({ reqId: source.id, status, errorCode, ip: source.ip }, 'rejected');
    }
    const details = { ...(request && idsOf(request)), errorCode, err: cause ?? error };
    if (kind === 'internal') return log.error(details, message);
    // Status 501 is not the server's error: a client asked a read replica for the feed. The error of an invalid
    // token has a cause only when a key of the identity provider is unusable.
    const isServerError = status >= 500 && kind !== 'notImplemented';
    if (!isServerError && !(kind === 'tokenInvalid' && cause)) return;
    if (performance.now() < (quietUntil.get(kind) ?? 0)) return;
    quietUntil.set(kind, performance.now() + 1_000);
    const isFromDatabase = kind === 'databaseUnavailable' || kind === 'plantRejected';
    log.warn(details, cause && isFromDatabase ? explainDatabaseError(cause) : message);
  };
}

/**
 * Writes the log to standard output in another thread, so that requests never wait for the log. Lines are lost
 * when nobody reads the log, or the disk is full.
 *
 * @param onLost is called for each line that is lost while the process runs
 */
export function logOutput(onLost = () => {}): DestinationStream {
  let lastRetry = Number.POSITIVE_INFINITY;
  void process.stdout; // Reading `process.stdout` makes a pipe non-blocking, so a full pipe cannot block the exit.
  const output = new sonicBoom.SonicBoom({
    fd: 1,
    // One write contains many lines, because each write is a system call.
    minLength: 32 * 1024,
    maxWrite: 64 * 1024,
    periodicFlush: 100,
    maxLength: 8 * 2 ** 20, // Further lines are lost.
    // In its mode for strings, sonic-boom measures all waiting text again for each new line.
    contentMode: 'buffer',
    retryEAGAIN: () => performance.now() < lastRetry,
  });
  output.on('error', () => {}); // The next flush tries again.
  output.on('drop', onLost);
  process.on('exit', () => {
    lastRetry = performance.now() + 1_000;
    try {
      output.flushSync();
    } catch {} // These lines are lost: the pipe or the disk is full, or the pipe is closed.
  });
  // The cast is needed, because sonic-boom's types allow only a string.
  return { write: (line) => void output.write(Buffer.from(line) as unknown as string) };
}

export const serializers = { err: describeError };

/** Describes an error without its stack, and without the SQL and the values in the messages of Drizzle. */
function describeError(error: Error): Record<string, unknown> {
  const source = error.cause instanceof Error && 'query' in error ? error.cause : error;
  const { name: type, message, stack = '', cause } = source;
  const [, at] = /[/\\]([\w.-]+\.[cm]?[jt]s:\d+):\d+\)?$/m.exec(stack) ?? []; // Such as `creates.ts:97`.
  const reason = cause instanceof Error ? describeError(cause) : undefined;
  return { type, message, code: databaseCode(source), at, cause: reason };
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
  return hideTokens(sent) !== sent || (token && sent.includes(token)) ? randomUUID() : sent;
}

/** A hook that sends the request id. The log lines of the request contain the same id. */
export const sendRequestId: onRequestHookHandler = (request, reply, done) => {
  reply.header('x-request-id', request.id);
  done();
};

/** Shortens a client's text, and hides its tokens, for a response, the log or a trace. */
export const showText = (text: string) => hideTokens(shorten(text));

/** Replaces access tokens in a text, because a client may have put its token in the wrong place. */
export const hideTokens = (text: string) => text.replaceAll(tokens, '…');

/** JWTs and the store's tokens, even percent-encoded. Matching each part of a JWT would take quadratic time. */
const tokens = /plant(?:_|%(?:25)*5[fF])[\w-]{8,}|eyJ[\w.-]{8,}/g;
