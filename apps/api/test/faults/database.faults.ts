import { setTimeout } from 'node:timers/promises';
import { hasPosixSignals, startFaultProxy, startOnPostgres } from '@plant-store/test-setup';
import { describe, expect, it, onTestFinished } from 'vitest';
import { databaseFaults } from './fault-causes.ts';
import { startPlantsDatabase } from './plants-database.ts';
import { startStoreUnderLoad } from './store-under-load.ts';

// Windows has no signals. A process there cannot be paused, and cannot exit with code 0 on SIGTERM.
describe.concurrent('no acknowledged plant is lost, and creates soon succeed again, when', () => {
  it.runIf(hasPosixSignals).for(databaseFaults)(
    '%s',
    async ([, causeFault], { onTestFinished, task }) => {
      const database = await startPlantsDatabase({ maxFileSize: 4 * 1024 });
      onTestFinished(database.stop);
      const proxy = await startFaultProxy(database.url);
      onTestFinished(proxy.close);
      const store = await startStoreUnderLoad(proxy.url);
      onTestFinished(store.kill);
      await causeFault({ ...database, proxy, load: store.load });
      await store.load.acknowledged(100);
      await store.finish(database.url, task);
    },
  );
});

it('a request has one deadline, even if its token and its plant both wait for the database', async () => {
  const database = await startPlantsDatabase();
  onTestFinished(database.stop);
  const server = await startOnPostgres(database.url);
  onTestFinished(server.stop);
  const { admin } = database;
  await admin`insert into access_tokens values (sha256('known'), 'Ann')`;
  await admin`begin`;
  await admin`lock table plants in access exclusive mode`;
  await admin`savepoint tokens`;
  await admin`lock table access_tokens in access exclusive mode`;

  const response = fetch(`${server.env.PLANT_STORE_URL}/plants`, {
    method: 'POST',
    headers: { authorization: 'Bearer known', 'content-type': 'application/json' },
    body: '{"id":1,"name":"x"}',
  });
  await setTimeout(3_000);
  await admin`rollback to tokens`;
  expect(await (await response).json()).toMatchObject({
    error: 50300,
    message: expect.stringContaining('may still be stored'),
  });
  await admin`rollback`;
});
