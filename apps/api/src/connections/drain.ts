import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import type {
  FastifyInstance,
  onResponseHookHandler,
  onSendHookHandler,
  preCloseAsyncHookHandler,
} from 'fastify';
import { closeAfter, connectionOf, halfClose, isLatest } from './client-connections.ts';
import { readArrived } from './event-loop-gap.ts';

/** A closing server stops listening when no connection has arrived for this number of milliseconds. */
const quietTime = 50;

/** After this number of `quietTime`s, a closing server stops listening, even when clients still connect. */
const maxQuietTimes = 20;

/**
 * Makes the hooks that close a server so that no request fails. During the drain delay, the server accepts
 * requests, and closes each connection after a response. A load balancer sees `/readyz` change. Then the
 * server stops listening, and closes when every request has its response.
 *
 * @param stopWaiting is called after the drain delay. Ends the requests that wait for changes, so that their
 *   clients send the next request to another instance
 */
export function drain(
  server: FastifyInstance,
  stopWaiting: () => void,
): {
  waitForDrain: preCloseAsyncHookHandler;
  announceClose: onSendHookHandler;
  closeAfterResponse: onResponseHookHandler;
} {
  const sockets = new Set<Socket>();
  let connections = 0;
  let released: Promise<void> | undefined;
  server.decorate('drainDelay', 0).decorate('isClosing', false);
  server.server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // Node calls `closeIdleConnections` when the server stops listening. Node's own method would reset
  // connections whose requests are on their way.
  server.server.closeIdleConnections = () => {
    for (const socket of sockets) if (isIdle(socket)) halfClose(socket);
  };

  return {
    async waitForDrain() {
      server.isClosing = true;
      await setTimeout(server.drainDelay);
      const quiet = waitForQuiet();
      // A client may connect again after its response. So the responses wait until the server has stopped
      // listening, and the new connection goes to another instance.
      released = quiet.then(nextTurn);
      stopWaiting();
      await quiet;
    },
    announceClose(_request, reply, _payload, done) {
      const { raw } = reply;
      // When a connection has several pending responses, only the last response has `Connection: close`
      // (RFC 9112 §9.6).
      if (server.isClosing && isLatest(raw)) closeAfter(raw);
      else if (server.isClosing) raw.removeHeader('connection');
      if (released)
        void released.then(
          () => done(),
          () => done(),
        );
      else done();
    },
    closeAfterResponse(_request, { raw }, done) {
      // When the headers were sent before the shutdown, the headers lack `Connection: close`.
      if (!server.server.listening && isLatest(raw)) halfClose(raw.req.socket);
      done();
    },
  };

  /**
   * Waits until the server has accepted all connections, and has read all requests that wait in the kernel.
   * Without this function, the kernel would reset the connections that the server has not accepted.
   */
  async function waitForQuiet(): Promise<void> {
    for (let times = 0; server.server.listening && times < maxQuietTimes; times++) {
      const before = connections;
      await setTimeout(quietTime);
      await readArrived();
      if (connections === before) return;
    }
  }
}

function isIdle(socket: Socket): boolean {
  return connectionOf(socket)?.responses.at(-1)?.raw.writableFinished ?? true;
}
