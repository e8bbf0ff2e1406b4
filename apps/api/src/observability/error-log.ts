import type { PlantStoreError } from '@plant-store/core';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a failure, logs what the client is not told of it, and keeps it for the request's line. */
    logFailure(failure: PlantStoreError, request?: FastifyRequest): void;
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

  server.decorate('logFailure', (failure, request) => {
    // A request that is cut off fails once more when its connection closes.
    if (request?.failures && !request.raw.complete) return;
    server.metrics?.countError(failure);
    if (request) request.failures = [...(request.failures ?? []), failure];
    const { kind, error, status, message } = failure;
    if (status < 500) return;
    const details = { reqId: request?.id, error, err: failure.cause ?? failure };
    if (kind === 'internal') return server.log.error(details, message);

    const { failures, until } = untold.get(kind) ?? { failures: 0, until: 0 };
    const isTold = performance.now() >= until;
    if (isTold) server.log.warn({ ...details, failures: failures + 1 }, message);
    const next = isTold
      ? { failures: 0, until: performance.now() + quiet }
      : { failures: failures + 1, until };
    untold.set(kind, next);
  });
}
