import { hostname } from 'node:os';
import type { PlantStoreError } from '@plant-store/core';
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { DestinationStream, Logger } from 'pino';

/** nginx's status for a client that left, or was cut off, before it had its answer. */
const clientLeft = 499;

/** What pino tells of the process in each line. */
const processBindings = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())}`;

/** One line for each request, and its count: who asked for what, what came of it, how long it took. */
export class RequestLog extends LogController {
  readonly #log: Logger;
  readonly #stream: DestinationStream;

  /** @param stream where `log` writes to */
  constructor(log: Logger, stream: DestinationStream) {
    super();
    this.#log = log;
    this.#stream = stream;
  }

  override incomingRequest(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    this.#end(request, reply.statusCode, reply.elapsedTime);
  }

  /** Notes a client that left before its reply, or was cut off with an answer from below Fastify. */
  connectionLost({ request, elapsedTime }: FastifyReply): void {
    this.#end(request, request.failures?.[0]?.status ?? clientLeft, elapsedTime);
  }

  override streamError(error: Error, request: FastifyRequest): void {
    const hasLeft = 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!hasLeft) this.#log.warn({ reqId: request.id, err: error }, 'a reply broke off');
  }

  #end(request: FastifyRequest, status: number, milliseconds: number): void {
    request.server.metrics?.countRequest(request, status, milliseconds);
    if (this.#log.isLevelEnabled('info')) {
      this.#stream.write(this.#line(request, status, milliseconds));
    }
  }

  /**
   * As pino writes it, whose own way to put a line together took 7 % of the server's time. An id
   * (`request-id.ts`) and a method (Node's parser) hold nothing that JSON would escape.
   */
  #line(request: FastifyRequest, status: number, milliseconds: number): string {
    const { id, ip, failures, principal } = request;
    const { method, path } = describeRequest(request);
    const errors = failures ? `,"errors":[${failures.map(({ error }) => error)}]` : '';
    const from = JSON.stringify(ip ?? null); // Unknown of a connection that was gone at once.
    const name = principal ? `,"principal":${JSON.stringify(principal.name)}` : '';
    const ms = Math.round(milliseconds * 10) / 10;
    return (
      `{"level":30,"time":${Date.now()},${processBindings},"reqId":"${id}","method":"${method}",` +
      `"path":${JSON.stringify(path)},"status":${status}${errors},"ip":${from}` +
      `${name},"ms":${ms},"msg":"request"}\n`
    );
  }
}

/** Logs and counts what was refused before it was a request to Fastify. */
export function logRefusal(
  { log, metrics }: FastifyInstance,
  { id, ip }: { id: string; ip: string | undefined },
  failure: PlantStoreError,
): void {
  metrics?.countError(failure);
  log.info({ reqId: id, status: failure.status, errors: [failure.error], ip }, 'refused');
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
