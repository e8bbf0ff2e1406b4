import type { PlantStoreError } from '@plant-store/core';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Puts what the client is not told into a log, and keeps the failure for the request's line. */
    logFailure(request: Pick<FastifyRequest, 'log' | 'failures'>, failure: PlantStoreError): void;
  }
  interface FastifyRequest {
    /** What the client is told went wrong: one thing, or several in a batch. */
    failures?: PlantStoreError[];
  }
}

/** Milliseconds that must pass before the same kind of failure, unless it is a bug, is logged again. */
const quiet = 1_000;

/**
 * Gives a server its log of failures. While the database is away or the server overloaded, requests
 * fail by the thousand for one reason, which is told once a second, with how many it has befallen.
 */
export function logFailures(server: FastifyInstance): void {
  const untold = new Map<string, { failures: number; until: number }>();

  server.decorate('logFailure', (request, failure) => {
    const { log, failures: before = [] } = request;
    request.failures = [...before, failure];
    const { kind, error, status, message } = failure;
    const err = failure.cause ?? failure;
    if (status < 500) return;
    if (kind === 'internal') return log.error({ error, err }, message);

    const { failures, until } = untold.get(kind) ?? { failures: 0, until: 0 };
    const isTold = Date.now() >= until;
    if (isTold) log.warn({ error, err, failures: failures + 1 }, message);
    const next = isTold
      ? { failures: 0, until: Date.now() + quiet }
      : { failures: failures + 1, until };
    untold.set(kind, next);
  });
}
