import type { FastifyInstance } from 'fastify';

/** One line for each request: who asked for what, what came of it, how long it took. */
export function logRequests(server: FastifyInstance): void {
  server.addHook('onResponse', (request, reply, done) => {
    request.log.info(
      {
        method: request.method,
        // Without the query: a client may have put its token there.
        path: request.url.split('?', 1)[0],
        status: reply.statusCode,
        principal: request.principal?.name,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    );
    done();
  });
}

/**
 * An error as the log shows it: neither its stack nor what Drizzle puts into its message, the SQL
 * and its values.
 */
export function describeError(error: Error): Record<string, unknown> {
  const source = error.cause instanceof Error && 'query' in error ? error.cause : error;
  return {
    type: source.name,
    message: source.message,
    ...('code' in source && { code: source.code }),
    at: whereThrown(source),
    ...(source.cause instanceof Error && { cause: describeError(source.cause) }),
  };
}

/** The place in the code that an error comes from, `write-batcher.ts:97`. */
function whereThrown({ stack = '' }: Error): string | undefined {
  return /([\w.-]+\.[cm]?[jt]s:\d+):\d+\)?$/m.exec(stack)?.[1];
}
