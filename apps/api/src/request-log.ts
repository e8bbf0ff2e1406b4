import type { PlantStoreError } from '@plant-store/core';
import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';

/** nginx's status for a client that left, or was cut off, before it had its answer. */
const clientLeft = 499;

/** One line for each request, and its count: who asked for what, what came of it, how long it took. */
export class RequestLog extends LogController {
  override incomingRequest(request: FastifyRequest, reply: FastifyReply): void {
    reply.raw.once('close', () => {
      if (request.socket.destroyed && !reply.raw.writableFinished)
        logEnd(request, clientLeft, reply.elapsedTime);
    });
  }

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    logEnd(request, reply.statusCode, reply.elapsedTime);
  }
}

function logEnd(request: FastifyRequest, status: number, milliseconds: number): void {
  request.server.metrics?.countRequest(request, status, milliseconds);
  request.log.info(
    {
      ...describeRequest(request),
      status,
      errors: request.failures?.map(({ error }) => error),
      ip: request.ip,
      principal: request.principal?.name,
      ms: Math.round(milliseconds * 10) / 10,
    },
    'request',
  );
}

/** The line for what was refused before it was a request to Fastify. */
export function logRefusal(
  log: FastifyBaseLogger,
  { id, ip }: { id: string; ip: string | undefined },
  { status, error }: PlantStoreError,
): void {
  log.info({ reqId: id, status, errors: [error], ip }, 'refused');
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
