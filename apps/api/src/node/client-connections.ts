import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, onRequestHookHandler, onResponseHookHandler } from 'fastify';
import { HttpError } from '../errors/http-error.ts';

/** The state of a client's connection. */
export interface ClientConnection {
  /** The responses to its last two requests. */
  latest?: ServerResponse;
  previous?: ServerResponse | undefined;
  /** The replies that are not sent yet. */
  readonly pending: Set<FastifyReply>;
  /** Whether it is closing after an error, so that nothing more is read from it. */
  isEnding?: boolean;
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

/** Tracks the connections of a server. Calls `onLost` for each reply whose connection closed first. */
export function trackConnections(
  server: Server,
  onLost: (reply: FastifyReply) => void = () => {},
): void {
  server.on('connection', (socket: Socket) => {
    const pending = new Set<FastifyReply>();
    connections.set(socket, { pending });
    void socket.remoteAddress; // Node remembers the address once it is read, also after the close.
    socket.once('close', () => pending.forEach(onLost));
  });
  server.prependListener('request', ({ socket }, response) => {
    const connection = connections.get(socket);
    if (!connection) return;
    connection.previous = connection.latest;
    connection.latest = response;
  });
}

/** A hook that adds a request's reply to those that are pending on its connection. */
export const trackReply: onRequestHookHandler = ({ raw }, reply, done) => {
  connections.get(raw.socket)?.pending.add(reply);
  done();
};

/** The hook that removes the reply again. */
export const untrackReply: onResponseHookHandler = ({ raw }, reply, done) => {
  connections.get(raw.socket)?.pending.delete(reply);
  done();
};

/**
 * A hook that rejects requests when 100 replies are pending on their connection. Node itself reads on
 * without limit as long as it has no replies to send.
 */
export const limitPipelining: onRequestHookHandler = ({ raw }, _reply, done) => {
  if ((connections.get(raw.socket)?.pending.size ?? 0) > maxPending) {
    const message = `${maxPending} requests of this connection have no reply yet: nothing was written, wait for replies`;
    throw new HttpError('overloaded', message);
  }
  done();
};

const maxPending = 100;
