import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preValidationHookHandler,
} from 'fastify';
import { HttpError } from '../errors/http-error.ts';

/** The state of a client's connection. */
export interface ClientConnection {
  /**
   * The responses that are not sent yet, and the latest response. This is an array and not a Set, because
   * the old tables of a Set would keep sent responses in memory.
   */
  readonly responses: TrackedResponse[];
  /** Whether the server closes the connection after the responses to the requests so far. */
  isEnding?: boolean;
  /** The response to a request whose error came before the whole request. */
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

/** Whether a response is the last one on its connection so far. */
export function isLatest(response: ServerResponse): boolean {
  return connections.get(response.req.socket)?.responses.at(-1)?.raw === response;
}

/**
 * Tracks the connections of a server. Calls `onLost` for each response that was not sent before its
 * connection closed. Drops requests after the last response of a connection, because clients send them
 * again on another connection (RFC 9112 §9.6).
 */
export function trackConnections(
  server: Server,
  onLost: (reply: FastifyReply) => void = () => {},
): void {
  server.on('connection', (socket: Socket) => {
    const responses: TrackedResponse[] = [];
    connections.set(socket, { responses });
    void socket.remoteAddress; // Node remembers the address once it is read, even after the close.
    socket.once('close', () => {
      for (const { reply } of responses) if (reply) onLost(reply);
    });
    // Node calls this after the last response. Node's own method would reset the connection of a client
    // that still sends its body.
    const { destroySoon } = socket;
    socket.destroySoon = () => {
      if (responses.at(-1)?.raw.req.complete === false) halfClose(socket);
      else destroySoon.call(socket);
    };
  });
  // A packet may contain thousands of requests, and Node reads them at once. Most of them must not reach
  // Fastify.
  const [handle] = server.listeners('request') as RequestListener[]; // Fastify has added this listener.
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (connection?.isEnding) return drop(request);
    if (connection) {
      const { responses } = connection;
      while (responses[0]?.raw.writableFinished) responses.shift();
      responses.push({ raw: response });
      if (responses.length > maxPending) {
        closeAfter(response);
        abortWithoutStacks(request.socket);
      }
    }
    handle?.call(server, request, response);
  });
}

/**
 * Drops a request. One packet may contain thousands of them, so the server reads no further packet of the
 * connection in this turn of the event loop.
 */
function drop(request: IncomingMessage): void {
  const { socket } = request;
  request.resume(); // An unread body would keep the connection open.
  if (socket.isPaused()) return;
  socket.pause();
  // Node sets `_paused` while responses wait to be sent, and then resumes the socket itself.
  setImmediate(() => Object(socket)._paused || socket.resume());
}

/**
 * When a connection closes, Node makes an error for each of its requests without a response. The stacks of
 * thousands of errors would stop the event loop.
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

/** Marks a connection as ending: the server processes no request after the latest one. */
export function endConnection(socket: Socket): void {
  const connection = connections.get(socket);
  if (connection) connection.isEnding = true;
}

/**
 * Ends the server's side of a connection. The server still reads bytes that are on their way, and drops
 * them. If it closed the socket, the kernel would reset the connection, and the client would lose the
 * response (RFC 9112 §9.6).
 */
export function halfClose(socket: Socket): void {
  endConnection(socket);
  socket.end();
  socket.setTimeout(lingerTime);
}

/** Milliseconds for a client to close its side of a connection after the server has ended its own. */
const lingerTime = 1_000;

/**
 * A hook that rejects a request when 100 responses are pending on its connection. Node itself has no such
 * limit while it has no responses to send.
 */
export const trackResponse: onRequestHookHandler = ({ raw }, reply, done) => {
  const { responses = [] } = connections.get(raw.socket) ?? {};
  const latest = responses.at(-1);
  if (latest) {
    latest.reply = reply;
    reply.raw.once('finish', () => {
      latest.reply = undefined;
    });
  }
  // A request to upgrade gets its usual response (RFC 9110 §7.8). Node loses the bytes after the request,
  // so the connection closes.
  if (raw.headers.upgrade !== undefined) closeAfter(reply.raw);
  if (responses.length > maxPending) {
    const message = `${maxPending} requests of this connection have no response yet: nothing was written, wait for responses`;
    throw new HttpError('overloaded', message);
  }
  done();
};

const maxPending = 100;

/** Makes a hook that drops a request whose body came after its client had received an error. */
export function dropAfterError(
  onDrop: (request: FastifyRequest) => void,
): preValidationHookHandler {
  return (request, reply, done) => {
    if (connections.get(request.raw.socket)?.broken !== reply.raw) done();
    else onDrop(request);
  };
}

/** Limits open connections, because each needs memory, and the database needs file descriptors. */
export function limitConnections({ server, logError }: FastifyInstance, max: number): void {
  server.maxConnections = max;
  // Without this property, processes that are full would pass a connection from one to the next for ever.
  // Node's types do not have it yet.
  Object.assign(server, { dropMaxConnection: true });
  server.on('drop', () => {
    logError(new HttpError('overloaded', `a connection was rejected: ${max} are open`));
  });
}

/** Makes a response the last one of its connection. Call it before the first asynchronous step. */
export function closeAfter(response: ServerResponse): void {
  response.setHeader('connection', 'close');
  endConnection(response.req.socket);
}
