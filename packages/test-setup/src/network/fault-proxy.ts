import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A fault of the network between a client and a server. A fault also affects open connections. */
export type Fault =
  | 'none'
  /** The proxy resets all connections immediately. */
  | 'refuse'
  /** The proxy resets a connection when the server sends a response on this connection. */
  | 'reset'
  /** When the server sends a response, the proxy closes only the server's side of the connection. */
  | 'halfClose'
  /** The proxy drops all data. A connection that has lost data never recovers. */
  | 'blackhole'
  /** The server's responses arrive one byte at a time. */
  | 'trickle'
  /** The proxy holds all data until the fault ends, even when the sender closes its connection. */
  | 'hold'
  /** The proxy holds only the server's responses until the fault ends. */
  | 'holdResponses';

export interface FaultProxy {
  /** The URL at which clients reach the server through this proxy. */
  readonly url: string;
  fault: Fault;
  /** Milliseconds by which the proxy delays data in each direction. */
  delay: number;
  /** The number of connections that clients have opened so far. */
  readonly accepted: number;
  /** The number of connections that are open now. */
  readonly open: number;
  /** Resets the connection of the next response that contains this text. Resolves after the reset. */
  loseResponse(text: string): Promise<void>;
  /** Forgets the open connections, as a firewall does. Neither the client nor the server gets a notice. */
  forget(): void;
  /** Holds the next response that contains this text. Drops all later responses of this connection. */
  holdResponse(text: string): HeldResponse;
  close(): void;
}

interface HeldResponse {
  /** Resolves when the proxy holds the response. */
  readonly held: Promise<void>;
  /** Forwards the held response, even when the server has closed the connection. */
  release(): void;
}

/** Starts a TCP proxy in front of the server at a URL. */
export async function startFaultProxy(serverUrl: string): Promise<FaultProxy> {
  const url = new URL(serverUrl);
  const target = { host: url.hostname, port: Number(url.port), allowHalfOpen: true };
  const sockets = new Set<Socket>();
  let generation = 0;
  let fault: Fault = 'none';
  let delay = 0;
  let accepted = 0;
  const heldBack: (() => void)[] = [];
  let loss: { text: string; resolve: () => void } | undefined;
  let hold: { text: string; resolve: () => void; released: Promise<void> } | undefined;

  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    accepted++;
    if (fault === 'refuse') return void client.resetAndDestroy();
    const server = connect(target);
    let isBlackhole = false; // After a connection has lost data, the connection loses all later data.
    let isHeld = false;
    const own = generation;
    const isForgotten = () => own !== generation;
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
      isBlackhole ||= fault === 'blackhole';
      if (!isBlackhole) deliver(client, () => forward(chunk, server));
    });
    server.on('data', (chunk) => {
      if (isForgotten()) return;
      isBlackhole ||= fault === 'blackhole';
      if (isBlackhole || isHeld) return;
      if (hold && chunk.includes(hold.text)) {
        isHeld = true;
        void hold.released.then(() => client.end(chunk));
        hold.resolve();
        hold = undefined;
      } else if (loss && chunk.includes(loss.text)) {
        client.resetAndDestroy();
        loss.resolve();
        loss = undefined;
      } else if (fault === 'reset') client.resetAndDestroy();
      else if (fault === 'halfClose') client.end();
      else if (fault === 'trickle') trickle(chunk, server, client);
      else deliver(server, () => forward(chunk, client));
    });
    /** Runs `action`, which forwards data or closes a connection. During a hold, `action` runs later. */
    function deliver(from: Socket, action: () => void): void {
      const isHeldBack = fault === 'hold' || (fault === 'holdResponses' && from === server);
      if (isHeldBack) heldBack.push(action);
      else action();
    }
  });
  const forward = (chunk: Buffer, to: Socket) => {
    if (delay === 0) to.write(chunk);
    // Node runs timers with equal delays in the order in which they started.
    else setTimeout(() => to.writable && to.write(chunk), delay);
  };
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as { port: number }; // A TCP server has a port.

  return {
    url: Object.assign(new URL(serverUrl), { port: String(port) }).href,
    get fault() {
      return fault;
    },
    set fault(next) {
      fault = next;
      if (fault === 'refuse') for (const socket of sockets) socket.resetAndDestroy();
      for (const deliver of heldBack.splice(0)) deliver();
    },
    get delay() {
      return delay;
    },
    set delay(milliseconds) {
      delay = milliseconds;
    },
    get accepted() {
      return accepted;
    },
    get open() {
      return sockets.size / 2;
    },
    loseResponse: (text) =>
      new Promise((resolve) => {
        loss = { text, resolve };
      }),
    forget() {
      generation++;
    },
    holdResponse(text) {
      const { promise: held, resolve } = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      hold = { text, resolve, released: released.promise };
      return { held, release: released.resolve };
    },
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Forwards one byte of a chunk every 100 ms. Pauses the source until the last byte is sent. */
function trickle(chunk: Buffer, from: Socket, to: Socket): void {
  from.pause();
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < chunk.length && to.writable) return void to.write(chunk.subarray(sent, ++sent));
    clearInterval(timer);
    from.resume();
  }, 100);
}
