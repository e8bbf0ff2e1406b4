import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * What goes wrong on the way to a server, on connections that are open and on new ones, where it
 * happens during their start:
 * - `refuse`: they are refused, and those that are open are reset;
 * - `reset`: they are reset when the server answers;
 * - `halfClose`: the server's side is closed when it answers, the client's stays open;
 * - `blackhole`: everything that is sent disappears, for good;
 * - `trickle`: what the server answers arrives a byte at a time.
 */
export type Fault = 'none' | 'refuse' | 'reset' | 'halfClose' | 'blackhole' | 'trickle';

export interface FaultProxy {
  /** The server's URL, by way of this proxy. */
  readonly url: string;
  fault: Fault;
  /** How many connections there have been. */
  readonly accepted: number;
  /** How many of them are open. */
  readonly open: number;
  /** Resets the connection on which the server next answers with this text; resolves when that is lost. */
  loseAnswer(text: string): Promise<void>;
  close(): void;
}

/** Starts a proxy on TCP in front of the server that a URL names. */
export async function startFaultProxy(serverUrl: string): Promise<FaultProxy> {
  const url = new URL(serverUrl);
  const target = { host: url.hostname, port: Number(url.port), allowHalfOpen: true };
  const sockets = new Set<Socket>();
  let fault: Fault = 'none';
  let accepted = 0;
  let loss: { text: string; resolve: () => void } | undefined;

  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    accepted++;
    if (fault === 'refuse') return void client.resetAndDestroy();
    const server = connect(target);
    let isSwallowed = false;
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {}).on('close', () => sockets.delete(from));
      from.on('close', () => to.destroy());
      from.on('end', () => isSwallowed || to.end());
    }
    client.on('data', (chunk) => {
      isSwallowed ||= fault === 'blackhole';
      if (!isSwallowed) server.write(chunk);
    });
    server.on('data', (chunk) => {
      isSwallowed ||= fault === 'blackhole';
      if (isSwallowed) return;
      if (loss && chunk.includes(loss.text)) {
        client.resetAndDestroy();
        loss.resolve();
        loss = undefined;
      } else if (fault === 'reset') client.resetAndDestroy();
      else if (fault === 'halfClose') client.end();
      else if (fault === 'trickle') trickle(chunk, server, client);
      else client.write(chunk);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as { port: number }; // It listens on a port, not on a pipe.

  return {
    url: Object.assign(new URL(serverUrl), { port: String(port) }).href,
    get fault() {
      return fault;
    },
    set fault(next) {
      fault = next;
      if (fault === 'refuse') for (const socket of sockets) socket.resetAndDestroy();
    },
    get accepted() {
      return accepted;
    },
    get open() {
      return sockets.size / 2;
    },
    loseAnswer: (text) =>
      new Promise((resolve) => {
        loss = { text, resolve };
      }),
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Passes on a byte every 100 ms, and nothing else meanwhile. */
function trickle(chunk: Buffer, from: Socket, to: Socket): void {
  from.pause();
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < chunk.length && to.writable) return void to.write(chunk.subarray(sent, ++sent));
    clearInterval(timer);
    from.resume();
  }, 100);
}
