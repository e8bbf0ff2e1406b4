import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Seen } from '@plant-store/test-setup';

/** A flood of creates, and its results so far. */
export interface Flood {
  /** The plants that got 200. */
  readonly acknowledged: Seen['acknowledged'];
  /** The milliseconds that each of these responses took. */
  readonly times: number[];
  /** The number of responses by HTTP status and error code: `200`, `503 50301`, `none`. */
  readonly outcomes: Record<string, number>;
  /** The number of 503 responses without `Retry-After`. */
  withoutRetryAfter: number;
  /** Sends no more plants. Resolves when the last responses have arrived. */
  stop(): Promise<void>;
}

/**
 * Creates plants on this number of connections, over REST and tRPC in turn. Each connection sends
 * its next plant as soon as the last one has a response. The flood writes to sockets itself, because
 * an HTTP client would need more CPU time than the server.
 */
export async function startFlood(
  { url, token }: { url: string; token: string },
  connections: number,
): Promise<Flood> {
  const acknowledged: Flood['acknowledged'] = [];
  const times: number[] = [];
  const outcomes: Flood['outcomes'] = {};
  let isStopped = false;
  let lastId = 0;

  const { hostname, port } = new URL(url);
  const head = `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
  const sendOn = (socket: Socket) => {
    let plant: Flood['acknowledged'][number];
    let sentAt: number;
    let received: string;
    const next = () => {
      if (isStopped) return void socket.destroy();
      const id = ++lastId;
      plant = { id, name: `plant ${id}`, ...(id % 2 && { tag: `tag ${id}` }) };
      const json = JSON.stringify(plant);
      const [path, body] = id % 2 ? ['/plants', json] : ['/trpc/createPlant', `{"json":${json}}`];
      received = '';
      sentAt = performance.now();
      socket.write(`POST ${path} HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    };
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk;
      const response = readResponse(received);
      if (!response) return;
      const { outcome, hasRetryAfter } = response;
      count(outcome);
      if (outcome.startsWith('503') && !hasRetryAfter) flood.withoutRetryAfter++;
      if (outcome === '200') {
        acknowledged.push(plant);
        times.push(performance.now() - sentAt);
      }
      next();
    });
    socket.on('error', () => {}).on('close', () => isStopped || count('none'));
    next();
  };
  const count = (outcome: string) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };

  const sockets: Socket[] = [];
  const flood: Flood = {
    acknowledged,
    times,
    outcomes,
    withoutRetryAfter: 0,
    async stop() {
      isStopped = true;
      await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
    },
  };
  // Clients connect one after another: when too many connect at once, the rest waits for seconds.
  while (sockets.length < connections) {
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    sockets.push(socket);
  }
  for (const socket of sockets) sendOn(socket);
  return flood;
}

/** Reads a response. Returns undefined until the whole response has arrived. */
function readResponse(received: string): { outcome: string; hasRetryAfter: boolean } | undefined {
  const [head = '', body] = received.split('\r\n\r\n');
  const [, length] = /^content-length: (\d+)/im.exec(head) ?? [];
  if (body?.length !== Number(length)) return undefined;
  const [status = ''] = /(?<= )\d+/.exec(head) ?? [];
  const [error] = /(?<="error":)\d+/.exec(body) ?? [];
  return {
    outcome: error ? `${status} ${error}` : status,
    hasRetryAfter: /^retry-after: \d+$/im.test(head),
  };
}
