import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { accessToken } from './load.ts';

/** Connections that follow the feed of changes. */
export interface Subscribers {
  /** Creates a plant, and returns the milliseconds from its 200 until each subscriber got it. */
  latencies(): Promise<number[]>;
  close(): void;
}

/** Subscribes so many times to the feed of a server, over tRPC. Resolves when all are connected. */
export async function subscribe(url: string, count: number): Promise<Subscribers> {
  const headers = { authorization: `Bearer ${accessToken}` };
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const streams = await Promise.all(
    Array.from({ length: count }, async () => {
      const request = get(`${url}/trpc/plantChanges`, { agent, headers });
      const [stream] = (await once(request, 'response')) as [IncomingMessage];
      if (stream.statusCode !== 200) throw new Error(`a subscriber got ${stream.statusCode}`);
      return stream.setEncoding('utf8').resume();
    }),
  );
  let created = Date.now();
  return {
    async latencies() {
      const id = ++created;
      const name = `latency ${id}`;
      const arrivals = streams.map((stream) => arrivalOf(stream, name));
      const body = JSON.stringify({ id, name });
      const json = { ...headers, 'content-type': 'application/json' };
      await fetch(`${url}/plants`, { method: 'POST', headers: json, body });
      const committedAt = performance.now();
      return (await Promise.all(arrivals)).map((at) => at - committedAt);
    },
    close: () => agent.destroy(),
  };
}

/** The time at which a text arrives. */
function arrivalOf(stream: IncomingMessage, text: string): Promise<number> {
  return new Promise((resolve) => {
    stream.on('data', function look(chunk: string) {
      if (!chunk.includes(text)) return;
      stream.off('data', look);
      resolve(performance.now());
    });
  });
}
