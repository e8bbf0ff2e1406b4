import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Connections that send the same kind of request, again and again. */
export interface RequestFlood {
  /** The number of responses by HTTP status. */
  readonly statuses: Record<string, number>;
  /** Milliseconds that each response took. */
  readonly times: number[];
  stop(): Promise<void>;
}

/**
 * Sends requests on this number of connections. Each connection sends the next request when it has
 * the response to the previous one. It writes to sockets itself, because an HTTP client needs more
 * CPU time than the server.
 *
 * @param nextRequest makes the text of a request
 */
export async function startRequestFlood(
  url: string,
  connections: number,
  nextRequest: () => string,
): Promise<RequestFlood> {
  const { hostname, port } = new URL(url);
  const statuses: Record<string, number> = {};
  const times: number[] = [];
  const sockets: Socket[] = [];
  let isStopped = false;

  const sendOn = (socket: Socket) => {
    let missing = -1;
    let sentAt = 0;
    const next = () => {
      if (isStopped) return void socket.destroy();
      sentAt = performance.now();
      missing = -1;
      socket.write(nextRequest());
    };
    socket.on('data', (chunk: Buffer) => {
      if (missing < 0) {
        // A response is at least as long as its head, which arrives in one piece.
        const end = chunk.indexOf('\r\n\r\n') + 4;
        const head = chunk.subarray(0, end).toString('latin1');
        const status = head.slice(9, 12);
        statuses[status] = (statuses[status] ?? 0) + 1;
        missing = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) + end;
      }
      missing -= chunk.length;
      if (missing > 0) return;
      times.push(performance.now() - sentAt);
      next();
    });
    socket.on('error', () => {});
    next();
  };

  // Clients connect one after another: when too many connect at once, the rest waits for seconds.
  while (sockets.length < connections) {
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    sockets.push(socket);
  }
  for (const socket of sockets) sendOn(socket);
  return {
    statuses,
    times,
    async stop() {
      isStopped = true;
      await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
    },
  };
}

/** The text of a request with a token. */
export function requestText(
  line: string,
  { token, body = '' }: { token: string; body?: string },
): string {
  const head = `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
  return `${line} HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}
