import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** What has been asked on a connection. */
export interface Connection {
  /** The responses to its last two requests. */
  latest?: ServerResponse;
  previous?: ServerResponse | undefined;
  /** The replies that it still waits for. */
  readonly due: Set<FastifyReply>;
  /** Whether it ends with an error, and nothing more that it sends is read. */
  isEnding?: boolean;
}

const connections = new WeakMap<Socket, Connection>();

/** What has been asked on a connection of a server that is watched. */
export function connectionOf(socket: Socket): Connection | undefined {
  return connections.get(socket);
}

/** Whether no other answer is due after this one on its connection. */
export function isLatest(response: ServerResponse): boolean {
  return connections.get(response.req.socket)?.latest === response;
}

/** Watches what is asked on each connection; `onLeft` is called for the replies that one closed without. */
export function watchConnections(
  fastify: FastifyInstance,
  onLeft: (reply: FastifyReply) => void = () => {},
): void {
  fastify.server.on('connection', (socket: Socket) => {
    const due = new Set<FastifyReply>();
    connections.set(socket, { due });
    void socket.remoteAddress; // From now on Node knows it, also once the socket is closed.
    socket.once('close', () => due.forEach(onLeft));
  });
  fastify.server.prependListener('request', ({ socket }, response) => {
    const connection = connections.get(socket);
    if (!connection) return;
    connection.previous = connection.latest;
    connection.latest = response;
  });
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    connections.get(raw.socket)?.due.add(reply);
    done();
  });
  fastify.addHook('onResponse', ({ raw }, reply, done) => {
    connections.get(raw.socket)?.due.delete(reply);
    done();
  });
}
