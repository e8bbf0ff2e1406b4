import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { HttpError } from '../errors/http-error.ts';
import type { Metrics } from './metrics.ts';

declare module 'fastify' {
  interface FastifyInstance {
    logError: LogError;
  }
  interface FastifyRequest {
    /** The errors that the client got: one, or several for a batch. */
    errors?: HttpError[];
  }
}

/** Where an error happened: in a request, or before Node's HTTP server had made one. */
type ErrorSource = FastifyRequest | { id: string; ip: string | undefined };

/** Counts an error, keeps it for the request's log line, and logs what the client is not told. */
export type LogError = (error: HttpError, source?: ErrorSource) => void;

/** Milliseconds until another error of the same kind is logged, unless it is a bug. */
const quietPeriod = 1_000;

/**
 * Makes the only way to log an error. While the database is away or the server is overloaded,
 * thousands of requests fail for one reason; a line a second says how many.
 */
export function createErrorLog(log: FastifyBaseLogger, metrics?: Metrics): LogError {
  const unlogged = new Map<string, { count: number; until: number }>();

  return (error, source) => {
    if (source && 'raw' in source) {
      // A request that is cut off fails once more when its connection closes.
      if (source.errors && !source.raw.complete) return;
      source.errors = [...(source.errors ?? []), error];
    } else if (source) {
      const { id: reqId, ip } = source;
      log.info({ reqId, status: error.status, errors: [error.code], ip }, 'rejected');
    }
    metrics?.countError(error);
    if (error.status >= 500 && (!source || 'raw' in source)) logServerError(error, source?.id);
  };

  function logServerError(error: HttpError, reqId: string | undefined): void {
    const { kind, code, message } = error;
    const details = { reqId, error: code, err: error.cause ?? error };
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
