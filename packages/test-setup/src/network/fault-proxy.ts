import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../machine.ts';

/** A fault of the network between a client and a server. A fault also affects open connections. */
export type Fault =
  | 'none'
  /** The proxy resets all connections immediately. */
  | 'refuse'
  /** The proxy resets a connection when the server sends a response on this connection. */
  | 'reset'
  /** The proxy drops all data. A connection that has lost data never recovers. */
  | 'blackhole'
  /** The proxy holds all data until the fault ends, even when the sender closes its connection. */
  | 'hold'
  /** The proxy holds only the server's responses until the fault ends. */
  | 'holdResponses';

interface Connection {
  /** The local port of the proxy's connection to the server. */
  port(): number;
  /** Drops all later responses of the server. */
  hold(): void;
  reset(): void;
}

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

/** Starts a TCP proxy in front of the server at a URL. */
export async function startFaultProxy(serverUrl: string) {
  const url = new URL(serverUrl);
  const target = { host: url.hostname, port: Number(url.port), allowHalfOpen: true };
  const sockets = new Set<Socket>();
  const connections = new Set<Connection>();
  let generation = 0;
  let fault: Fault = 'none';
  const heldBack: (() => void)[] = [];
  /** `take` gets the next response that contains `text`. Returns whether the proxy drops later responses. */
  let trap: { text: string; take(client: Socket, response: Buffer): boolean } | undefined;
  let lostRequest: { text: string; resolve: () => void } | undefined;

  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    control.accepted++;
    if (fault === 'refuse') return void client.resetAndDestroy();
    const server = connect(target);
    let isBlackhole = false; // After a connection has lost data, the connection loses all later data.
    let isHeld = false;
    const own = generation;
    const isForgotten = () => own !== generation;
    const connection = {
      port: () => server.localPort ?? Number.NaN,
      hold() {
        isHeld = true;
      },
      reset() {
        isHeld = false;
        client.resetAndDestroy();
      },
    };
    connections.add(connection);
    server.on('close', () => connections.delete(connection));
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {}).on('close', () => sockets.delete(from));
      from.on('close', () => deliver(from, () => isHeld || isForgotten() || to.destroy()));
      from.on('end', () => deliver(from, () => isBlackhole || isHeld || isForgotten() || to.end()));
    }
    client.on('data', (chunk) => {
      if (isForgotten()) return;
      if (lostRequest && chunk.includes(lostRequest.text)) {
        lostRequest.resolve();
        lostRequest = undefined;
        client.resetAndDestroy();
        return;
      }
      isBlackhole ||= fault === 'blackhole';
      if (!isBlackhole) deliver(client, () => server.write(chunk));
    });
    server.on('data', (chunk) => {
      if (isForgotten()) return;
      isBlackhole ||= fault === 'blackhole';
      if (isBlackhole || isHeld) return;
      if (trap && chunk.includes(trap.text)) {
        isHeld = trap.take(client, chunk);
        trap = undefined;
      } else if (fault === 'reset') client.resetAndDestroy();
      else deliver(server, () => client.write(chunk));
    });
    /** Runs `action`, which forwards data or closes a connection. A fault that holds data delays `action`. */
    function deliver(from: Socket, action: () => void): void {
      const isHeldBack = fault === 'hold' || (fault === 'holdResponses' && from === server);
      if (isHeldBack) heldBack.push(action);
      else action();
    }
  });
  const control = {
    /** The URL at which clients reach the server through this proxy. */
    url: '',
    get fault() {
      return fault;
    },
    set fault(next) {
      fault = next;
      if (fault === 'refuse') for (const socket of sockets) socket.resetAndDestroy();
      for (const deliver of heldBack.splice(0)) deliver();
    },
    /** The number of connections that clients have opened so far. */
    accepted: 0,
    /** The number of connections that are open now. */
    get open() {
      return sockets.size / 2;
    },
    /** The ports of the open connections to the server. Postgres shows each port as a `client_port`. */
    get serverPorts() {
      return [...connections].map(({ port }) => port());
    },
    /** Drops the responses on the open connections. Returns a function that resets these connections. */
    loseResponses() {
      const open = [...connections];
      for (const connection of open) connection.hold();
      return () => {
        for (const connection of open) connection.reset();
      };
    },
    /** Drops the next request that contains this text. Resolves when the request's connection is reset. */
    loseRequest: (text: string) =>
      new Promise<void>((resolve) => {
        lostRequest = { text, resolve };
      }),
    /** Drops the next response that contains this text. Resolves when the response's connection is reset. */
    loseResponse: (text: string) =>
      new Promise<void>((resolve) => {
        const take = (client: Socket) => {
          client.resetAndDestroy();
          resolve();
          return false;
        };
        trap = { text, take };
      }),
    /** Forgets the open connections, as a firewall does. Neither the client nor the server gets a notice. */
    forget() {
      generation++;
    },
    /**
     * Holds the next response that contains this text. Drops all later responses of its connection. `held`
     * resolves when the proxy holds the response. `release` forwards the response, even when the server has
     * closed the connection.
     */
    holdResponse(text: string) {
      const held = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const take = (client: Socket, response: Buffer) => {
        void released.promise.then(() => client.end(response));
        held.resolve();
        return true;
      };
      trap = { text, take };
      return { held: held.promise, release: released.resolve };
    },
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  const port = new URL(await listen(proxy)).port;
  control.url = Object.assign(url, { port }).href;
  return control;
}
