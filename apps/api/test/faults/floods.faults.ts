import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { startAcknowledgedLoad } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { serve, token } from '../fixtures/program.ts';
import { requestText } from '../fixtures/raw-request.ts';
import { isAllowed, startDatabase } from './store-under-load.ts';

/** The number of connections of a flood. */
const flooders = 1_500;

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
  const load = startAcknowledgedLoad(server);
  await load.acknowledged(creates);
  await load.stop();
  flood.postMessage('stop');
  const [outcomes] = await once(flood, 'message');
  const { outcomes: ofCreates, slowest } = load.seen;
  console.log(
    `a flood of ${name}: ${JSON.stringify(outcomes)}; creates: ${JSON.stringify(ofCreates)}, ` +
      `at most ${slowest} ms`,
  );
  expect(Object.keys(ofCreates).filter((outcome) => !isAllowed(outcome))).toEqual([]);
});
