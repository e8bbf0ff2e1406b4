import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { PlantStoreError } from '@plant-store/core';
import type { ErrorKind } from '@plant-store/schemas';
import type { FastifyInstance } from 'fastify';
import { connectionOf } from './connections.ts';
import { requestIdOf } from '../observability/request-id.ts';
import { logRefusal } from '../observability/request-log.ts';

/**
 * What goes wrong below Fastify, in Node's HTTP server, would be answered with an empty body.
 * Here it is answered with the contract's.
 */
export function handleHttpErrors(fastify: FastifyInstance): void {
  const { server } = fastify;
  // As many as are in the 16 KiB of names and values; of its own accord Node drops those after the
  // thousandth, and says nothing of them.
  server.maxHeadersCount = 0;
  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    const hosts = count(raw.rawHeaders, 'host');
    if (hosts > 1 || (hosts === 0 && raw.httpVersion === '1.1')) {
      throw malformed(`there are ${hosts} Host headers: send one (RFC 9112 §3.2)`);
    }
    if (count(raw.rawHeaders, 'authorization') > 1) {
      throw malformed('there is more than one Authorization header: send one');
    }
    if ((connectionOf(raw.socket)?.due.size ?? 0) > maxDue) {
      const message = `${maxDue} requests of this connection are unanswered: nothing was written, wait for answers`;
      throw new PlantStoreError('overloaded', message);
    }
    done();
  });
  // A client that asks before it sends its body gets its answer once the request has been let in.
  server.on('checkContinue', (request, response) => {
    server.emit('request', Object.assign(request, { awaitsContinue: true }), response);
  });
  server.on('checkExpectation', (request, response: ServerResponse) => {
    const failure = new PlantStoreError('expectationFailed', 'only Expect: 100-continue is met');
    const id = requestIdOf(request);
    logRefusal(fastify, { id, ip: request.socket.remoteAddress }, failure);
    const { headers, body } = answerOf(failure, id);
    response.writeHead(failure.status, headers).end(body);
  });
  server.on('connect', (_request, socket: Socket) => {
    // Node has let go of it: nobody else hears what befalls it, or ends it.
    for (const end of ['error', 'timeout', 'finish']) socket.on(end, () => socket.destroy());
    const message = 'CONNECT is not offered here: this is no proxy';
    const failure = new PlantStoreError('methodNotAllowed', message);
    endWith(fastify, socket, failure, { allow: 'GET, HEAD, POST' });
  });
}

/** Answers what Node's parser refused and what was not sent in time. */
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
  if (connection?.isEnding) return; // Everything more that it sends is refused here, too.
  if (connection) connection.isEnding = true;
  const [kind, message] = byCode[code] ?? ['malformedRequest', 'this is not well-formed HTTP/1.1'];
  endWith(this, socket, new PlantStoreError(kind, message));
}

/**
 * Requests of a connection that may be unanswered; further ones are refused at once. Node itself
 * reads on, whatever that takes, as long as there are no answers to send.
 */
const maxDue = 100;

const byCode: Record<string, [ErrorKind, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['requestTimeout', 'the request was not sent completely in time'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['bodyTooLarge', 'the chunk extensions of the body are too large'],
  HPE_HEADER_OVERFLOW: ['headersTooLarge', 'the request headers are over 16 KiB'],
};

/** Ends a connection with an error, once the answers that are due before it have been given. */
function endWith(
  fastify: FastifyInstance,
  socket: Socket,
  failure: PlantStoreError,
  more?: object,
): void {
  const { latest, previous, due = [] } = connectionOf(socket) ?? {};
  // The error is the answer to the latest request, unless that came whole or is answered already.
  const isAnswerToLatest = latest && !latest.req.complete && !latest.headersSent;
  const before = isAnswerToLatest ? previous : latest;
  if (before && !before.writableFinished) {
    before.once('finish', () => endWith(fastify, socket, failure, more));
  } else if (latest?.headersSent && !latest.req.complete) {
    socket.destroySoon();
  } else if (socket.writable) {
    const reply = isAnswerToLatest && [...due].find(({ raw }) => raw === latest);
    const id = reply ? reply.request.id : randomUUID();
    if (reply) fastify.logFailure(failure, reply.request);
    else logRefusal(fastify, { id, ip: socket.remoteAddress }, failure);
    const { headers, body } = answerOf(failure, id);
    const { status } = failure;
    const lines = Object.entries({ ...headers, ...more }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  }
}

function answerOf({ error, message }: PlantStoreError, id: string) {
  const body = JSON.stringify({ error, message });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': id,
    connection: 'close',
  };
  return { headers, body };
}

function malformed(message: string): PlantStoreError {
  return new PlantStoreError('malformedRequest', message);
}

/** How often a header was sent: Node keeps the first of these and says nothing of the others. */
function count(rawHeaders: string[], name: string): number {
  let times = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i];
    if (each?.length === name.length && each.toLowerCase() === name) times++;
  }
  return times;
}
