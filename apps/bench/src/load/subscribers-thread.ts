import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * Posts 'connected' when all subscribers are connected. For each name of a plant that this thread receives,
 * the thread first posts 'ready', and then the times at which the subscribers have got the name. The
 * subscribers parse nothing, because parsing would take CPU time from the server.
 */
const { url, count, token } = workerData as { url: string; count: number; token: string };

const { hostname, port, host } = new URL(url);
const streams = await Promise.all(
  Array.from({ length: count }, async () => {
    const socket = connect(Number(port), hostname);
    const headers = [`Host: ${host}`, `Authorization: Bearer ${token}`];
    socket.write(['GET /trpc/plantChanges HTTP/1.1', ...headers, '\r\n'].join('\r\n'));
    const [start] = (await once(socket, 'data')) as [Buffer];
    const [status] = start.toString().split('\r\n');
    if (status !== 'HTTP/1.1 200 OK') throw new Error(`a subscriber got ${status}`);
    return socket.resume();
  }),
);
parentPort?.postMessage('connected');
parentPort?.on('message', async (name: string) => {
  const arrivals = Promise.all(streams.map((stream) => arrivalOf(stream, name)));
  parentPort?.postMessage('ready');
  parentPort?.postMessage(await arrivals);
});

/** Resolves with the time at which a text arrives, or with NaN when the server ends the stream first. */
function arrivalOf(stream: Socket, text: string): Promise<number> {
  return new Promise((resolve) => {
    if (stream.closed) resolve(Number.NaN);
    const look = (chunk: Buffer) => chunk.includes(text) && end(Date.now());
    const close = () => end(Number.NaN);
    const end = (time: number) => {
      stream.off('data', look).off('close', close).resume();
      resolve(time);
    };
    stream.on('data', look).on('close', close);
  });
}
