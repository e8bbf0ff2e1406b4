import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startProcess } from '@plant-store/test-setup';
import { expect, it, onTestFinished } from 'vitest';
import { startPlantsDatabase } from './plants-database.ts';
import { requestText, startRequestFlood } from './request-flood.ts';

const token = 'secret-of-the-tests';

/** The numbers of connections of a flood, and of the clients that create plants. */
const flooders = 1_500;
const creators = 8;

/** Milliseconds for which creates are measured, without a flood and during a flood. */
const duration = 5_000;

let lastId = 0;
const nextId = () => ++lastId;

// Each request has another number of eight digits in place of NUMBER.
it.each([
  ['lists', requestText('GET /plants?limit=1000', { token })],
  ['gets', requestText('GET /plants/1NUMBER', { token })],
  ['deletes', requestText('DELETE /plants/1NUMBER', { token })],
  ['unknown tokens', requestText('GET /plants', { token: 'unknownNUMBER' })],
])('creates still succeed during a flood of %s', async (name, text) => {
  const database = await startPlantsDatabase();
  onTestFinished(database.stop);
  const server = startProcess({
    DATABASE_URL: database.url,
    PLANT_STORE_TOKEN: token,
    LOG_LEVEL: 'fatal',
  });
  onTestFinished(() => void server.child.kill('SIGKILL'));
  const [, url = ''] = await server.printed(/REST +(\S+)\/plants/);
  await database.admin`insert into plants select n, 'plant ' || n from generate_series(1, 5000) n`;

  const create = () => {
    const body = `{"id":${1_000_000 + nextId()},"name":"a plant"}`;
    return requestText('POST /plants', { token, body });
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
  const [statuses] = await once(flood, 'message');
  const firstAfter = await startRequestFlood(url, 1, create);
  await expect.poll(() => firstAfter.times.length).toBeGreaterThan(0);
  await firstAfter.stop();

  const [before, during] = [percentile99(quiet.times), percentile99(flooded.times)];
  console.log(
    `a flood of ${name}: ${JSON.stringify(statuses)}; creates ${flooded.times.length} after ` +
      `${quiet.times.length}, p99 ${during.toFixed(0)} ms after ${before.toFixed(0)} ms, slowest ` +
      `${Math.max(...flooded.times).toFixed(0)} ms, first after it ${firstAfter.times[0]?.toFixed(0)} ms`,
  );
  expect(Object.keys(flooded.statuses)).toEqual(['200']);
  expect(flooded.times.length).toBeGreaterThan(0);
});

function percentile99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
