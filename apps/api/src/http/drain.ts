import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type {
  FastifyInstance,
  onResponseHookHandler,
  onSendHookHandler,
  preCloseAsyncHookHandler,
} from 'fastify';
import { closeAfter, connectionOf, endConnection, isLatest } from '../node/client-connections.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Milliseconds for which a closing server still takes requests. */
    drainDelay: number;
    /** Whether the server was told to close. */
    isClosing: boolean;
  }
}

/**
 * Makes the hooks that close a server without any client noticing. The server first takes requests
 * for the drain delay, so that a load balancer sees `/readyz` change, and closes each connection
 * after its reply. Then it stops listening, and closes once every request has its reply.
 */
export function drain(server: FastifyInstance): {
  waitForDrain: preCloseAsyncHookHandler;
  announceClose: onSendHookHandler;
  closeAfterReply: onResponseHookHandler;
} {
  const sockets = new Set<Socket>();
  server.decorate('drainDelay', 0).decorate('isClosing', false);
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  return {
    async waitForDrain() {
      server.isClosing = true;
      await setTimeout(server.drainDelay);
      // Node would wait for connections without a request as it does for those with one.
      for (const socket of sockets) if (!connectionOf(socket)?.latest) socket.destroy();
    },
    announceClose(_request, reply, _payload, done) {
      const { raw } = reply;
      // With several replies on a connection, only the last says that it closes (RFC 9112 §9.6).
      if (server.isClosing && isLatest(raw)) closeAfter(reply);
      else if (server.isClosing) raw.removeHeader('connection');
      done();
    },
    closeAfterReply(_request, { raw }, done) {
      // The headers of this reply may have been sent before the server was told to close.
      if (!server.server.listening && isLatest(raw)) {
        endConnection(raw.req.socket);
        raw.req.socket.destroySoon();
      }
      done();
    },
  };
}
