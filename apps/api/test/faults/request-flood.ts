import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Seen } from '@plant-store/test-setup';
import { requestText } from '../fixtures/raw-request.ts';
import type { Target } from '../fixtures/surfaces.ts';
import { count, openConnections, readResponses } from './connections.ts';

/**
 * Sends requests again and again on the given number of connections. Each connection sends its next request after the
 * response to its last request.
 *
 * @param nextRequest returns the text of a request, and a function to call when the request gets 200
 */
export async function startRequestFlood(
  url: string,
  connections: number,
  nextRequest: () => { text: string; acknowledge?: () => void },
) {
  /** The number of responses by outcome, such as `200`, `503 50301` or `none`. */
  const outcomes: Record<string, number> = {};
  /** The milliseconds that each response with 200 took. */
  const times: number[] = [];
  let withoutRetryAfter = 0;
  let isStopped = false;

  const sendOn = (socket: Socket) => {
    let request = nextRequest();
    let sentAt = performance.now();
    socket.write(request.text);
    readResponses(socket, ({ outcome, hasRetryAfter }) => {
      count(outcomes, outcome);
      if (outcome.startsWith('503') && !hasRetryAfter) withoutRetryAfter++;
      if (outcome === '200') {
        times.push(performance.now() - sentAt);
        request.acknowledge?.();
      }
      if (isStopped) return void socket.destroy();
      request = nextRequest();
      sentAt = performance.now();
      socket.write(request.text);
    });
    socket.on('close', () => isStopped || count(outcomes, 'none'));
  };

  const sockets = await openConnections(url, connections);
  for (const socket of sockets) sendOn(socket);
  return {
    outcomes,
    times,
    /** The number of 503 responses without `Retry-After`. */
    get withoutRetryAfter() {
      return withoutRetryAfter;
    },
    /** Sends no more requests. Resolves when the last responses have arrived. */
    async stop() {
      isStopped = true;
      await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
    },
  };
}

/** Creates plants over REST and tRPC in turn, on the given number of connections. */
export async function startCreateFlood({ url, token }: Target, connections: number) {
  /** The plants that got 200. */
  const acknowledged: Seen['acknowledged'] = [];
  let id = 0;
  const flood = await startRequestFlood(url, connections, () => {
    const plant = { id: ++id, name: `plant ${id}`, ...(id % 2 && { tag: `tag ${id}` }) };
    const json = JSON.stringify(plant);
    const [path, body] = id % 2 ? ['/plants', json] : ['/trpc/createPlant', `{"json":${json}}`];
    return {
      text: requestText(`POST ${path}`, token, body),
      acknowledge: () => acknowledged.push(plant),
    };
  });
  return Object.assign(flood, { acknowledged });
}
