import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { HttpError } from '../errors/http-error.ts';
import { connectionOf } from './client-connections.ts';

/** The headers and the body of an error that is sent without Fastify. */
export function rawReply({ code, message }: HttpError, requestId: string) {
  const body = JSON.stringify({ error: code, message });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    connection: 'close',
  };
  return { headers, body };
}

/** Sends an error and closes the connection, after the replies to earlier requests. */
export function closeWithError(
  fastify: FastifyInstance,
  socket: Socket,
  error: HttpError,
  extraHeaders?: object,
): void {
  const { latest, previous, pending = [] } = connectionOf(socket) ?? {};
  // The error belongs to the latest request, unless that was complete or has its reply already.
  const belongsToLatest = latest && !latest.req.complete && !latest.headersSent;
  const before = belongsToLatest ? previous : latest;
  if (before && !before.writableFinished) {
    before.once('finish', () => closeWithError(fastify, socket, error, extraHeaders));
  } else if (latest?.headersSent && !latest.req.complete) {
    socket.destroySoon();
  } else if (socket.writable) {
    const reply = belongsToLatest && [...pending].find(({ raw }) => raw === latest);
    const source = reply ? reply.request : { id: randomUUID(), ip: socket.remoteAddress };
    fastify.logError(error, source);
    const { headers, body } = rawReply(error, source.id);
    const lines = Object.entries({ ...headers, ...extraHeaders }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const { status } = error;
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  }
}
