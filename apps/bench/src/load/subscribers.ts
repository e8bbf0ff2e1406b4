import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { accessToken } from './load.ts';

/** Connections that get the changes of the feed. */
export type Subscribers = Awaited<ReturnType<typeof subscribe>>;

/** Opens `count` subscriptions to the feed of a server. Resolves when all subscriptions are open. */
export async function subscribe(url: string, count: number) {
  // The subscribers have their own thread, so that they do not slow down the load generator.
  const thread = new Worker(new URL('./subscribers-thread.ts', import.meta.url), {
    workerData: { url, count, token: accessToken },
  });
  await once(thread, 'message');
  const firstId = Date.now();
  let created = 0;
  return {
    /** The number of plants that `latencies` has created. */
    get created() {
      return created;
    },
    /** Creates a plant. Resolves, per subscriber, with the milliseconds from the response to the change. */
    async latencies() {
      created += 1;
      const id = firstId + created;
      const name = `latency ${id}`;
      thread.postMessage(name);
      await once(thread, 'message');
      const arrived = once(thread, 'message');
      const headers = {
        authorization: `Bearer ${accessToken}`,
        'content-type': 'application/json',
      };
      const body = JSON.stringify({ id, name });
      await fetch(`${url}/plants`, { method: 'POST', headers, body });
      const committedAt = Date.now();
      const [arrivals] = (await arrived) as [number[]];
      return arrivals.filter(Number.isFinite).map((at) => Math.max(0, at - committedAt));
    },
    close: () => thread.terminate(),
  };
}
