import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { connectionOf, isLatest } from '../node/connections.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Milliseconds for which a server that closes goes on taking requests. */
    drainDelay: number;
    /** Whether it has been told to close. */
    isClosing: boolean;
  }
}

/**
 * How the server closes, without a client's notice. First it takes requests for a while still, so
 * that whoever looks at `/readyz` sends the next ones elsewhere, and ends each connection with an
 * answer that says so. Then it listens no more, and is closed once what is under way is answered.
 */
export function closeGently(server: FastifyInstance): void {
  const sockets = new Set<Socket>();

  server.decorate('drainDelay', 0).decorate('isClosing', false);
  server.addHook('preClose', async () => {
    server.isClosing = true;
    await setTimeout(server.drainDelay);
    // Nothing is under way on these; Node would wait for them as it does for a request.
    for (const socket of sockets) if (!connectionOf(socket)?.latest) socket.destroy();
  });

  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.addHook('onSend', (_request, { raw }, _payload, done) => {
    // Where others are due on the connection, the last of them says that it ends (RFC 9112 §9.6).
    if (server.isClosing && isLatest(raw)) raw.setHeader('connection', 'close');
    else if (server.isClosing) raw.removeHeader('connection');
    done();
  });
  // An answer that had begun before it could say so.
  server.addHook('onResponse', (_request, { raw }, done) => {
    if (!server.server.listening && isLatest(raw)) raw.req.socket.destroySoon();
    done();
  });
}
