import type { Socket } from 'node:net';
import { type ErrorKind, shorten } from '@plant-store/schemas';
import type { FastifyInstance } from 'fastify';
import { HttpError } from '../errors/http-error.ts';
import { closeWithError, METHODS } from './raw-response.ts';
import { type RequestLine, requestLineIn } from './request-line.ts';

/** Sends the store's own errors, because the errors of Node's HTTP server have no body. */
export function respondToNodeEvents(fastify: FastifyInstance): void {
  const { server } = fastify;
  // By default, Node ignores all headers after the thousandth. With 0, Node reads all headers. Their total
  // size still has a limit of 16 KiB.
  server.maxHeadersCount = 0;
  // A client with `Expect: 100-continue` waits before it sends its body. The server tells the client to
  // send the body when the hooks have accepted the request.
  server.on('checkContinue', (request, response) => {
    server.emit('request', Object.assign(request, { awaitsContinue: true }), response);
  });
  // A hook rejects each value of `Expect` except `100-continue`.
  server.on('checkExpectation', (request, response) => {
    server.emit('request', Object.assign(request, { expectsUnknown: true }), response);
  });
  server.on('connect', (_request, socket: Socket) => {
    // After CONNECT, Node does not listen to the socket. An `error` event would be an uncaught exception.
    for (const event of ['error', 'timeout', 'finish']) socket.on(event, () => socket.destroy());
    const message = 'CONNECT is not supported: this server is not a proxy';
    const error = new HttpError('methodNotAllowed', message);
    closeWithError(fastify, socket, error, { headers: { allow: 'DELETE, GET, HEAD, POST' } });
  });
}

/** Responds when Node's parser rejects a request, or when a request does not arrive in time. */
export function clientErrorHandler(this: FastifyInstance, error: Error, socket: Socket): void {
  const parserError = error as ParserError; // Fastify's type declares the packet as JSON.
  if (parserError.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { rawPacket, bytesParsed = 0 } = parserError;
  const line = rawPacket && requestLineIn(rawPacket, bytesParsed);
  closeWithError(this, socket, new HttpError(...describe(parserError, line)), { line });
}

/** An error of Node's HTTP server, with the bytes that the HTTP parser rejected. */
interface ParserError extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
  bytesParsed?: number;
}

function describe({ code = '' }: ParserError, line: RequestLine = {}): [ErrorKind, string] {
  const { method = '', isComplete } = line;
  // When Node knows the method, another part of the request is malformed: the error is `malformedRequest`.
  if (methodErrors.has(code) && isComplete && !METHODS.includes(method)) {
    return [
      'notImplemented',
      `there is no method ${shorten(method)} here: send GET, POST or DELETE`,
    ];
  }
  return (
    errorByCode[code] ?? [
      'malformedRequest',
      'the request is not well-formed HTTP/1.1: check the client',
    ]
  );
}

/** The parser's error codes for an unknown method. */
const methodErrors = new Set(['HPE_INVALID_METHOD', 'HPE_INVALID_CONSTANT']);

export const transferEncodingError =
  'Transfer-Encoding must end with chunked, once, and without Content-Length (RFC 9112 §6.3)';

const errorByCode: Record<string, [ErrorKind, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [
    'requestTimeout',
    'the request was not sent completely in time: send it again',
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    'malformedRequest',
    'the chunk extensions of the body are too large: send none',
  ],
  HPE_HEADER_OVERFLOW: [
    'headersTooLarge',
    'the request headers are over 16 KiB: send fewer or shorter ones',
  ],
  HPE_INVALID_TRANSFER_ENCODING: ['malformedRequest', transferEncodingError],
  HPE_PAUSED_H2_UPGRADE: ['malformedRequest', 'HTTP/2 is not supported: send HTTP/1.1'],
};
