import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { count, openConnections } from './connections.ts';

/** The pauses of a client after each chunk of a response and after an error, in milliseconds. */
const pause = 20;
const retryAfter = 1_000;

/**
 * Starts a client for each function of `clients`. The function returns the text of the next requests. A
 * client reads responses slowly, and sends the next requests after all earlier responses.
 */
export async function startSlowClients(url: string, clients: readonly (() => string)[]) {
  /** The number of responses by outcome, such as `200`, `503 50301` or `207 50301`. */
  const outcomes: Record<string, number> = {};
  let isStopped = false;
  const sockets = await openConnections(url, clients.length);
  clients.forEach((nextRequests, i) => {
    const socket = sockets[i];
    socket?.once('close', () => isStopped || count(outcomes, 'none'));
    if (socket) void readSlowly(socket, nextRequests, outcomes);
  });
  return {
    outcomes,
    /** Ends the connections. */
    stop(): void {
      isStopped = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function readSlowly(
  socket: Socket,
  nextRequests: () => string,
  outcomes: Record<string, number>,
): Promise<void> {
  let received = '';
  let status: string | undefined;
  let missing = 0;
  let codes = new Set<string>();
  let hasError = false;
  socket.setEncoding('latin1').write(nextRequests());
  try {
    for await (const chunk of socket) {
      received += chunk;
      let isComplete = false;
      for (;;) {
        const end = received.indexOf('\r\n\r\n') + 4;
        if (status === undefined && end > 4) {
          const [, code, length] = headPattern.exec(received.slice(0, end)) ?? [];
          [status, missing, received] = [String(code), Number(length), received.slice(end)];
        }
        if (status === undefined) break;
        const body = received.slice(0, missing);
        for (const [, code = ''] of body.matchAll(/"error":(\d{5})\b/g)) codes.add(code);
        if (missing > received.length) {
          // A chunk may end in the middle of an error code. The next iteration therefore searches the last
          // 20 characters of this chunk again.
          received = received.slice(-20);
          missing -= body.length - received.length;
          break;
        }
        received = received.slice(missing);
        count(outcomes, [status, ...codes].join(' '));
        hasError ||= status === '503';
        [status, codes] = [undefined, new Set()];
        isComplete = received === '';
      }
      await setTimeout(isComplete && hasError ? retryAfter : pause);
      if (isComplete) socket.write(nextRequests());
      if (isComplete) hasError = false;
    }
  } catch {
    // The socket throws an error when the test has ended the connection.
  }
}

const headPattern = /^HTTP\/1\.1 (\d+).*content-length: (\d+)/is;
