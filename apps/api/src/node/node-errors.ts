import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorKind } from '@plant-store/schemas';
import type { FastifyInstance } from 'fastify';
import { HttpError } from '../errors/http-error.ts';
import { requestIdOf } from '../observability/request-id.ts';
import { connectionOf } from './client-connections.ts';
import { closeWithError, rawReply } from './raw-reply.ts';

/** Answers with the contract's errors where Node's HTTP server would send an empty body. */
export function answerNodeEvents(fastify: FastifyInstance): void {
  const { server } = fastify;
  // By default Node drops headers after the thousandth. The 16 KiB limit on their size remains.
  server.maxHeadersCount = 0;
  // A client that asks before it sends its body is answered once the hooks have accepted the request.
  server.on('checkContinue', (request, response) => {
    server.emit('request', Object.assign(request, { awaitsContinue: true }), response);
  });
  server.on('checkExpectation', (request, response: ServerResponse) => {
    const error = new HttpError('expectationFailed', 'only Expect: 100-continue is supported');
    const id = requestIdOf(request);
    fastify.logError(error, { id, ip: request.socket.remoteAddress });
    const { headers, body } = rawReply(error, id);
    response.writeHead(error.status, headers).end(body);
  });
  server.on('connect', (_request, socket: Socket) => {
    // Node no longer handles this socket: without listeners its error would be uncaught.
    for (const event of ['error', 'timeout', 'finish']) socket.on(event, () => socket.destroy());
    const message = 'CONNECT is not supported: this server is not a proxy';
    const error = new HttpError('methodNotAllowed', message);
    closeWithError(fastify, socket, error, { allow: 'GET, HEAD, POST' });
  });
}

/** Answers when Node's parser rejects a request, or a request is not sent completely in time. */
export function clientErrorHandler(
  this: FastifyInstance,
  { code = '' }: NodeJS.ErrnoException,
  socket: Socket,
): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const connection = connectionOf(socket);
  if (connection?.isEnding) return; // The parser rejects everything that follows, too.
  if (connection) connection.isEnding = true;
  const [kind, message] = errorByCode[code] ?? [
    'malformedRequest',
    'the request is not well-formed HTTP/1.1',
  ];
  closeWithError(this, socket, new HttpError(kind, message));
}

const errorByCode: Record<string, [ErrorKind, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['requestTimeout', 'the request was not sent completely in time'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['bodyTooLarge', 'the chunk extensions of the body are too large'],
  HPE_HEADER_OVERFLOW: ['headersTooLarge', 'the request headers are over 16 KiB'],
};
