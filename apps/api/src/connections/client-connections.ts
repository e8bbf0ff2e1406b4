import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type {
  FastifyInstance,
  FastifyReply,
  onRequestHookHandler,
  preValidationHookHandler,
} from 'fastify';
import { HttpError } from '../errors/http-error.ts';

export interface ClientConnection {
  /**
   * The responses that are not sent yet, and the latest response. This is an array, because a `Set` in V8
   * would keep removed responses in memory.
   */
  readonly responses: TrackedResponse[];
  /** Whether the server closes the connection after the last of `responses`. */
  isEnding?: boolean;
  /** The error response to a request that has not arrived completely. */
  broken?: ServerResponse;
}

interface TrackedResponse {
  readonly raw: ServerResponse;
  /** Fastify's reply, from the first hook until the response is sent. */
  reply?: FastifyReply | undefined;
}

const connections = new WeakMap<Socket, ClientConnection>();

export function connectionOf(socket: Socket): ClientConnection | undefined {
  return connections.get(socket);
}

/** Whether a response belongs to the latest request of its connection. */
export function isLatest(response: ServerResponse): boolean {
  return connections.get(response.req.socket)?.responses.at(-1)?.raw === response;
}

/**
 * Tracks the connections of a server. Calls `onLost` for each response that was not sent before its
 * connection closed. Drops the requests that arrive on an ending connection, because clients send these
 * requests again on another connection (RFC 9112 §9.6).
 */
export function trackConnections(
  server: Server,
  onLost: (reply: FastifyReply) => void = () => {},
): void {
  server.on('connection', (socket: Socket) => {
    const responses: TrackedResponse[] = [];
    connections.set(socket, { responses });
    // Node keeps an address that was read once, even after the connection has closed.
    void socket.remoteAddress;
    socket.once('close', () => {
      for (const { reply } of responses) if (reply) onLost(reply);
    });
    // Node calls `destroySoon` after the last response. Node's own method would reset the connection of a
    // client that still sends its body.
    const { destroySoon } = socket;
    socket.destroySoon = () => {
      if (responses.at(-1)?.raw.req.complete === false) halfClose(socket);
      else destroySoon.call(socket);
    };
  });
  // A packet can contain thousands of requests, and Node reads all of them in one turn of the event loop. The
  // new listener drops the requests on an ending connection, before Fastify spends time on these requests.
  // The cast is safe, because Fastify added the first listener.
  const [handle] = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (connection?.isEnding) return drop(request);
    if (connection) {
      const { responses } = connection;
      const tracked: TrackedResponse = { raw: response };
      responses.push(tracked);
      response.once('finish', () => {
        tracked.reply = undefined;
        forgetSent(responses);
      });
      forgetSent(responses);
      if (responses.length > maxPending) {
        closeAfter(response);
        abortWithoutStacks(request.socket);
      }
    }
    handle?.call(server, request, response);
  });
}

/** Removes sent responses except the latest response, so that an idle connection frees their memory. */
function forgetSent(responses: TrackedResponse[]): void {
  while (responses.length > 1 && responses[0]?.raw.writableFinished) responses.shift();
}

/**
 * Drops a request. One packet may contain thousands of requests, so the server pauses the connection for this
 * turn of the event loop.
 */
function drop(request: IncomingMessage): void {
  const { socket } = request;
  request.resume(); // An unread body would keep the connection open.
  if (socket.isPaused()) return;
  socket.pause();
  // `_paused` means that Node waits until responses are sent, and then resumes the socket itself.
  setImmediate(() => Object(socket)._paused || socket.resume());
}

/**
 * When a connection closes, Node makes an error for each request without a response. This function turns off
 * the stacks of these errors, because thousands of stacks would block the event loop.
 */
function abortWithoutStacks(socket: Socket): void {
  const { stackTraceLimit } = Error;
  socket.prependOnceListener('close', () => {
    Error.stackTraceLimit = 0;
  });
  socket.once('close', () => {
    Error.stackTraceLimit = stackTraceLimit;
  });
}

/** Marks a connection as ending. The server processes no later request of this connection. */
export function endConnection(socket: Socket): void {
  const connection = connections.get(socket);
  if (connection) connection.isEnding = true;
}

/**
 * Ends the server's side of a connection. The server reads and drops the bytes that arrive later. A close of
 * the socket would reset the connection, and the client would lose the response (RFC 9112 §9.6).
 */
export function halfClose(socket: Socket): void {
  endConnection(socket);
  socket.end();
  socket.setTimeout(lingerTime);
}

/** The client has this number of milliseconds to end its side of a connection. */
const lingerTime = 1_000;

/**
 * A hook that rejects a request when 100 responses are pending on its connection. Node's own limit does not
 * count requests that are still running.
 */
export const trackResponse: onRequestHookHandler = ({ raw }, reply, done) => {
  const { responses = [] } = connections.get(raw.socket) ?? {};
  const latest = responses.at(-1);
  if (latest) latest.reply = reply;
  // The server ignores the header `Upgrade` (RFC 9110 §7.8). Node loses the bytes after a request with this
  // header, so the server closes the connection after the response.
  if (raw.headers.upgrade !== undefined) closeAfter(reply.raw);
  if (responses.length > maxPending) {
    const message = `${maxPending} requests of this connection have no response yet: nothing was written, wait for responses`;
    throw new HttpError('overloaded', message);
  }
  done();
};

const maxPending = 100;

/** A hook that drops a request when the server has sent an error before the body arrived. */
export const dropAfterError: preValidationHookHandler = (request, reply, done) => {
  if (connections.get(request.raw.socket)?.broken !== reply.raw) done();
  else request.server.memory.release(request);
};

/** Limits open connections, because connections need memory and file descriptors. */
export function limitConnections({ server, logError }: FastifyInstance, max: number): void {
  server.maxConnections = max;
  server.on('drop', () => {
    logError(new HttpError('overloaded', `a connection was rejected: ${max} are open`));
  });
}

/** Ends the connection after a response. Call this function before the handler's first `await`. */
export function closeAfter(response: ServerResponse): void {
  response.setHeader('connection', 'close');
  endConnection(response.req.socket);
}
