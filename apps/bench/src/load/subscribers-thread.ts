import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * The thread of the subscribers. It posts a message when all are connected. For each name that it gets, it
 * posts a message when it looks for the name, and then the times at which the subscribers got it.
 */
const { url, count, token } = workerData as { url: string; count: number; token: string };

const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
const streams = await Promise.all(
  Array.from({ length: count }, async () => {
    const headers = { authorization: `Bearer ${token}` };
    const request = get(`${url}/trpc/plantChanges`, { agent, headers });
    const [stream] = (await once(request, 'response')) as [IncomingMessage];
    if (stream.statusCode !== 200) throw new Error(`a subscriber got ${stream.statusCode}`);
    return stream.resume();
  }),
);
parentPort?.postMessage('connected');
parentPort?.on('message', async (name: string) => {
  const arrivals = Promise.all(streams.map((stream) => arrivalOf(stream, name)));
  parentPort?.postMessage('ready');
  parentPort?.postMessage(await arrivals);
});

/** The time at which a text arrives; NaN when the server ends the stream before, as it does each minute. */
function arrivalOf(stream: IncomingMessage, text: string): Promise<number> {
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
