import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { HttpError } from '../errors/http-error.ts';
import { connectionOf, endConnection } from './client-connections.ts';
import { STATUS_CODES } from './node-http.ts';

/** Sends an error without Fastify and closes the connection, after the replies to earlier requests. */
export function closeWithError(
  fastify: FastifyInstance,
  socket: Socket,
  error: HttpError,
  extraHeaders?: object,
): void {
  const connection = connectionOf(socket);
  const { latest, previous, pending = [], isEnding } = connection ?? {};
  const isIncomplete = latest && !latest.req.complete;
  if (isEnding && !isIncomplete) return; // The error is behind the last request.
  endConnection(socket);
  // The error belongs to the latest request, unless that was complete or has its reply already.
  const belongsToLatest = isIncomplete && !latest.headersSent;
  const reply = belongsToLatest && [...pending].find(({ raw }) => raw === latest);
  if (connection && belongsToLatest) connection.replaced = latest;

  afterReply(belongsToLatest ? previous : latest, () => {
    // The latest request may have got its reply in the meantime.
    if (isIncomplete && latest.headersSent) afterReply(latest, () => socket.destroySoon());
    else send();
  });

  function send() {
    if (!socket.writable) return;
    const source = reply ? reply.request : { id: randomUUID(), ip: socket.remoteAddress };
    fastify.logError(error, source);
    socket.end(rawReply(error, { 'x-request-id': source.id, ...extraHeaders }));
  }
}

function afterReply(response: ServerResponse | undefined, next: () => void): void {
  if (response && !response.writableFinished) response.once('finish', next);
  else next();
}

function rawReply({ code, status, message }: HttpError, extraHeaders: object): string {
  const body = JSON.stringify({ error: code, message });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...extraHeaders,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}
