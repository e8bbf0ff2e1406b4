import { once } from 'node:events';
import type { Socket } from 'node:net';
import { openSocket } from '../fixtures/raw-request.ts';

/** Opens connections one by one. Clients that connect at the same time may wait for seconds. */
export async function openConnections(url: string, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const socket = openSocket(url).setNoDelay();
    await once(socket, 'connect');
    sockets.push(socket);
  }
  return sockets;
}

interface Received {
  /** The HTTP status and the error code, such as `503 50301`. */
  outcome: string;
  hasRetryAfter: boolean;
}

/**
 * Calls a function after each response on a connection. Only one request may be open on the connection.
 * An HTTP client would read all bodies, and would take more CPU time than the server. This function therefore
 * skips most bodies.
 */
export function readResponses(socket: Socket, receive: (response: Received) => void): void {
  let head = '';
  let error = '';
  let missing = 0;
  socket.on('data', (chunk: Buffer) => {
    let body = chunk;
    if (missing === 0) {
      const end = chunk.indexOf('\r\n\r\n') + 4;
      head = chunk.toString('latin1', 0, end);
      error = '';
      body = chunk.subarray(end);
      missing = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    }
    const status = head.slice(9, 12);
    if (status !== '200') error += body;
    missing -= body.length;
    if (missing > 0) return;
    const [code] = /(?<="error":)\d+/.exec(error) ?? [];
    const hasRetryAfter = /^retry-after: \d+$/im.test(head);
    receive({ outcome: code ? `${status} ${code}` : status, hasRetryAfter });
  });
}

export function count(outcomes: Record<string, number>, outcome: string): void {
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}
