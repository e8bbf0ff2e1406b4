import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { errorBody, jsonHeaders } from '../errors/error-response.ts';
import type { HttpError } from '../errors/http-error.ts';
import { connectionOf, endConnection } from './client-connections.ts';
import type { RequestLine } from './request-line.ts';

/** An `import` of `node:http` would load `WebSocket` and `fetch`, and delay each start. */
const http = process.getBuiltinModule('node:http');
export const { maxHeaderSize, METHODS } = http;

interface RawResponse {
  /** The request line of the failed request, if Node has emitted no event `request` for this request. */
  line?: RequestLine | undefined;
  /** Headers in addition to the usual headers of a response. */
  headers?: object;
}

/** Sends an error after the responses to earlier requests, and closes the connection. */
export function closeWithError(
  fastify: FastifyInstance,
  socket: Socket,
  error: HttpError,
  { line = {}, headers }: RawResponse = {},
): void {
  const connection = connectionOf(socket);
  const { responses = [], isEnding, broken } = connection ?? {};
  const { raw: latest, reply } = responses.at(-1) ?? {};
  const isIncomplete = latest && !latest.req.complete;
  // Bytes that arrive after the last request, or after the first error, get no response.
  if (isEnding && (!isIncomplete || broken)) return;
  endConnection(socket);
  // The error belongs to the latest request if this request is incomplete and has no response yet.
  const belongsToLatest = isIncomplete && !latest.headersSent;
  if (connection && isIncomplete) connection.broken = latest;

  afterResponse(belongsToLatest ? responses.at(-2)?.raw : latest, () => {
    // While this code waited for earlier responses, the latest request may have got its response.
    if (isIncomplete && latest.headersSent) afterResponse(latest, () => socket.destroySoon());
    else send();
  });

  function send() {
    if (!socket.writable) return;
    const source =
      belongsToLatest && reply ? reply.request : { id: randomUUID(), ip: socket.remoteAddress };
    fastify.logError(error, source);
    const request = belongsToLatest ? latest.req : line;
    socket.end(rawResponse(error, request, { 'x-request-id': source.id, ...headers }));
  }
}

function afterResponse(response: ServerResponse | undefined, next: () => void): void {
  if (response && !response.writableFinished) response.once('finish', next);
  else next();
}

function rawResponse(error: HttpError, { method, url = '' }: RequestLine, extraHeaders: object) {
  const { status } = error;
  const body = errorBody(error, url);
  const headers = {
    ...jsonHeaders,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...extraHeaders,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join('')}\r\n`;
  return method === 'HEAD' ? head : head + body;
}
