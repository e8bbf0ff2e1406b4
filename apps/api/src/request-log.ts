import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';

/** One line for each request: who asked for what, what came of it, how long it took. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    request.log.info(
      {
        ...describeRequest(request),
        status: reply.statusCode,
        principal: request.principal?.name,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    );
  }
}

/** How the log shows what Fastify itself puts into it. */
export const serializers = {
  err: describeError,
  req: describeRequest,
  res: ({ statusCode }: FastifyReply) => ({ status: statusCode }),
};

function describeRequest({ method, url }: FastifyRequest) {
  // Without the query: a client may have put its token there.
  return { method, path: url.split('?', 1)[0] };
}

/** An error without its stack and without what Drizzle puts into its message, the SQL and its values. */
function describeError(error: Error): Record<string, unknown> {
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
