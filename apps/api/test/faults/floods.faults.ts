import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { serve, token } from '../fixtures/program.ts';
import { requestText } from '../fixtures/raw-request.ts';
import { percentile99 } from './connections.ts';
import { startRequestFlood } from './request-flood.ts';
import { startDatabase } from './store-under-load.ts';

/** The number of connections of a flood, and the number of clients that create plants. */
const flooders = 1_500;
const creators = 8;

/** The duration of each measurement of creates, in milliseconds. */
const duration = 5_000;

let lastId = 1_000_000;

// In each request, a different number of eight digits replaces NUMBER.
it.each([
  ['lists', requestText('GET /plants?limit=1000', token)],
  ['gets', requestText('GET /plants/1NUMBER', token)],
  ['deletes', requestText('DELETE /plants/1NUMBER', token)],
  ['unknown tokens', requestText('GET /plants', 'unknownNUMBER')],
])('creates still succeed during a flood of %s', async (name, text) => {
  const database = await startDatabase();
  const { url } = await serve({ DATABASE_URL: database.url, LOG_LEVEL: 'fatal' });
  await database.admin`insert into plants select n, 'plant ' || n from generate_series(1, 5000) n`;

  const create = () => {
    const body = `{"id":${++lastId},"name":"a plant"}`;
    return { text: requestText('POST /plants', token, body) };
  };
  const measure = async () => {
    const creates = await startRequestFlood(url, creators, create);
    await setTimeout(duration);
    await creates.stop();
    return creates;
  };
  const quiet = await measure();
  const workerData = { url, connections: flooders, text };
  const flood = new Worker(new URL('./request-flood-worker.ts', import.meta.url), { workerData });
  await once(flood, 'message');
  const flooded = await measure();
  flood.postMessage('stop');
  const [outcomes] = await once(flood, 'message');
  const firstAfter = await startRequestFlood(url, 1, create);
  await expect.poll(() => firstAfter.times.length).toBeGreaterThan(0);
  await firstAfter.stop();

  const [before, during] = [percentile99(quiet.times), percentile99(flooded.times)];
  console.log(
    `a flood of ${name}: ${JSON.stringify(outcomes)}; creates ${flooded.times.length} after ` +
      `${quiet.times.length}, p99 ${during} ms after ${before} ms, slowest ` +
      `${Math.max(...flooded.times).toFixed(0)} ms, first after it ${firstAfter.times[0]?.toFixed(0)} ms`,
  );
  expect(Object.keys(flooded.outcomes)).toEqual(['200']);
  expect(flooded.times.length).toBeGreaterThan(0);
});
