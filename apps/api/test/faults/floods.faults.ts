import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { serve, token } from '../fixtures/program.ts';
import { requestText } from '../fixtures/raw-request.ts';
import { percentile99 } from './connections.ts';
import { startCreateFlood } from './request-flood.ts';
import { isAllowed, startDatabase } from './store-under-load.ts';

/** The number of connections of a flood, and the number of clients that create plants. */
const flooders = 1_500;
const creators = 8;

/** The number of creates that must get 200 during a flood. */
const creates = 500;

// In each request, a different number of eight digits replaces NUMBER.
it.each([
  ['lists', requestText('GET /plants?limit=1000', token)],
  ['gets', requestText('GET /plants/1NUMBER', token)],
  ['deletes', requestText('DELETE /plants/1NUMBER', token)],
  ['unknown tokens', requestText('GET /plants', 'unknownNUMBER')],
])('creates still succeed during a flood of %s', async (name, text) => {
  const database = await startDatabase();
  const server = await serve({ DATABASE_URL: database.url, LOG_LEVEL: 'fatal' });
  await database.admin`insert into plants select -n, 'plant ' || n from generate_series(1, 5000) n`;

  const workerData = { url: server.url, connections: flooders, text };
  const flood = new Worker(new URL('./request-flood-worker.ts', import.meta.url), { workerData });
  await once(flood, 'message');
  const load = await startCreateFlood(server, creators);
  await expect.poll(() => load.acknowledged.length).toBeGreaterThan(creates);
  await load.stop();
  flood.postMessage('stop');
  const [outcomes] = await once(flood, 'message');
  console.log(
    `a flood of ${name}: ${JSON.stringify(outcomes)}; creates: ${JSON.stringify(load.outcomes)}, ` +
      `p99 ${percentile99(load.times)} ms`,
  );
  expect(Object.keys(load.outcomes).filter((outcome) => !isAllowed(outcome))).toEqual([]);
});
