import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  onResponseHookHandler,
  preValidationHookHandler,
} from 'fastify';
import { HttpError } from '../errors/http-error.ts';

/** The state of a client's connection. */
export interface ClientConnection {
  /** How many requests have no response yet. */
  open: number;
  /** The responses to its last two requests. */
  latest?: ServerResponse;
  previous?: ServerResponse | undefined;
  /**
   * The responses that are not sent yet. An array, because the old tables of a Set would keep sent
   * responses in memory.
   */
  readonly pending: FastifyReply[];
  /** Whether the server closes it after the responses to the requests so far. */
  isEnding?: boolean;
  /** The response in whose place an error was sent. */
  replaced?: ServerResponse | undefined;
  /**
   * Whether Node's parser has rejected bytes on it. The parser then reports an error for all later
   * bytes.
   */
  isBroken?: boolean;
}

const connections = new WeakMap<Socket, ClientConnection>();

/** The state of a connection of a tracked server. */
export function connectionOf(socket: Socket): ClientConnection | undefined {
  return connections.get(socket);
}

/** Whether a response is the last one on its connection so far. */
export function isLatest(response: ServerResponse): boolean {
  return connections.get(response.req.socket)?.latest === response;
}

/**
 * Tracks the connections of a server. Calls `onLost` for each response whose connection closed
 * first.
 *
 * It drops requests on a connection that is ending. The last response says that the connection
 * closes, so clients send such requests again elsewhere, and the server must not process them (RFC
 * 9112 §9.6).
 */
export function trackConnections(
  server: Server,
  onLost: (reply: FastifyReply) => void = () => {},
): void {
  server.on('connection', (socket: Socket) => {
    const pending: FastifyReply[] = [];
    connections.set(socket, { pending, open: 0 });
    void socket.remoteAddress; // Node remembers the address once it is read, even after the close.
    socket.once('close', () => pending.forEach(onLost));
    // Node calls this after the last response. Node's own method would reset a client that still
    // sends its body.
    const { destroySoon } = socket;
    socket.destroySoon = () => {
      if (connections.get(socket)?.latest?.req.complete === false) halfClose(socket);
      else destroySoon.call(socket);
    };
  });
  // A packet may have thousands of requests, which Node reads at once. Most of them must not reach Fastify.
  const [handle] = server.listeners('request') as RequestListener[]; // Fastify has added it.
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (connection?.isEnding) return drop(request);
    if (connection) {
      connection.previous = connection.latest;
      connection.latest = response;
      if (++connection.open > maxPending) {
        closeAfter(response);
        abortWithoutStacks(request.socket);
      }
      response.once('close', () => connection.open--);
    }
    handle?.call(server, request, response);
  });
}

/** Reads no further packet of the connection in this turn of the event loop: it may have dropped thousands. */
function drop(request: IncomingMessage): void {
  const { socket } = request;
  request.resume(); // An unread body would keep the connection open.
  if (socket.isPaused()) return;
  socket.pause();
  // Node sets `_paused` while responses wait to be sent, and then resumes the socket itself.
  setImmediate(() => Object(socket)._paused || socket.resume());
}

/**
 * When a connection closes, Node throws away its requests without a response, with an error for each. The
 * stacks of thousands of errors would stop the event loop.
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
 * Ends the server's side of a connection. Bytes that are on their way are read and dropped: if the
 * socket were closed, the kernel would reset the connection, and the client would lose the response
 * (RFC 9112 §9.6).
 */
export function halfClose(socket: Socket): void {
  endConnection(socket);
  socket.end();
  socket.setTimeout(lingerTime);
}

/**
 * Milliseconds for a client to close its side of a connection after the server has ended its own.
 */
const lingerTime = 1_000;

/**
 * A hook that adds a request's response to those that are pending on its connection.
 *
 * It rejects a request when 100 responses are pending on its connection. Node itself reads on
 * without limit as long as it has no responses to send.
 */
export const trackResponse: onRequestHookHandler = ({ raw }, reply, done) => {
  const connection = connections.get(raw.socket);
  // The request gets its usual response, but Node loses the bytes that follow it (RFC 9110 §7.8).
  if (raw.headers.upgrade !== undefined) closeAfter(reply.raw);
  connection?.pending.push(reply);
  if (connection && connection.open > maxPending) {
    const message = `${maxPending} requests of this connection have no response yet: nothing was written, wait for responses`;
    throw new HttpError('overloaded', message);
  }
  done();
};

const maxPending = 100;

/** The hook that removes the response again. */
export const untrackResponse: onResponseHookHandler = ({ raw }, reply, done) => {
  const { pending = [] } = connections.get(raw.socket) ?? {};
  const at = pending.indexOf(reply);
  if (at >= 0) pending.splice(at, 1);
  done();
};

/**
 * Makes a hook that drops a request whose client got an error already, because its body came too
 * late. It runs after the body was read. `onDrop` replaces the hooks of the response.
 */
export function dropAfterError(
  onDrop: (request: FastifyRequest) => void,
): preValidationHookHandler {
  return (request, reply, done) => {
    if (connections.get(request.raw.socket)?.replaced !== reply.raw) done();
    else onDrop(request);
  };
}

/**
 * Limits open connections: each needs memory, and a file descriptor that the database needs too.
 */
export function limitConnections({ server, logError }: FastifyInstance, max: number): void {
  server.maxConnections = max;
  // Without this property, processes that are full would hand a connection to each other for ever.
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
