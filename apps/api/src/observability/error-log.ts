import { CallerDisconnectedError } from '@plant-store/core/internal';
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { HttpError } from '../errors/http-error.ts';
import type { Metrics } from './metrics.ts';
import { traceIds } from './tracing/end-span.ts';

/** The request that failed, or the connection that failed before Fastify got a request. */
type ErrorSource = FastifyRequest | { id: string; ip: string | undefined };

/**
 * Counts an error, adds its code to the request's log line, and logs the cause of a server error. Status 501
 * is an error of the client, because the client sent an unknown method or an unknown transfer coding. The
 * store also drops the work of a client that has disconnected, which must cause no alert.
 */
export type LogError = (error: HttpError, source?: ErrorSource) => void;

/** Milliseconds between two log lines for the same kind of error. Bugs are always logged. */
const quietPeriod = 1_000;

/** When many requests get the same kind of error, one log line a second gives the number of requests. */
export function createErrorLog(log: FastifyBaseLogger, metrics?: Metrics): LogError {
  // Every JWT that is signed with an unusable key of the identity provider gets `tokenInvalid`, but the log
  // names the key only one time.
  const isNewKey = firstTimes();
  const unlogged = new Map<string, { count: number; until: number }>();

  return (error, source) => {
    if (error.cause instanceof CallerDisconnectedError) return;
    if (source && 'raw' in source) {
      // An incomplete request that has failed fails again when its connection closes.
      if (source.errors && !source.raw.complete) return;
      source.errors = [...(source.errors ?? []), error];
    } else if (source) {
      const { id: reqId, ip } = source;
      log.info({ reqId, status: error.status, errorCode: error.code, ip }, 'rejected');
    }
    metrics?.countError(error);
    const isServerError = error.status >= 500 && error.kind !== 'notImplemented';
    const ids = source && 'raw' in source ? traceIds(source) : undefined;
    const details = { reqId: source?.id, ...ids, errorCode: error.code };
    if (isServerError && (!source || 'raw' in source)) logServerError(error, details);
    if (error.kind === 'tokenInvalid' && error.cause instanceof Error) {
      logOnce(error.cause, details);
    }
  };

  function logOnce({ message, cause }: Error, details: object): void {
    if (isNewKey(message)) log.warn({ ...details, err: cause }, message);
  }

  function logServerError(error: HttpError, source: object): void {
    const { kind, message } = error;
    const details = { ...source, err: error.cause ?? error };
    const { count, until } = unlogged.get(kind) ?? { count: 0, until: 0 };
    if (kind === 'internal') {
      log.error(details, message);
    } else if (performance.now() < until) {
      unlogged.set(kind, { count: count + 1, until });
    } else {
      log.warn({ ...details, count: count + 1 }, message);
      unlogged.set(kind, { count: 0, until: performance.now() + quietPeriod });
    }
  }
}

/**
 * Makes a function that returns whether a text is new. After 100 texts, no text is new, so that no client can
 * fill the log.
 */
export function firstTimes(): (text: string) => boolean {
  const known = new Set<string>();
  return (text) => {
    if (known.size >= 100 || known.has(text)) return false;
    known.add(text);
    return true;
  };
}
