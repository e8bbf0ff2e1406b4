import { openPlantStore } from '@plant-store/core';
import { hasPosixSignals } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startSynchronousStandby } from './plants-database.ts';
import { startDatabase, startStoreUnderLoad } from './store-under-load.ts';

// Windows has no signals, so a server there cannot exit with code 0 on SIGTERM.
const test = it.runIf(hasPosixSignals);

test('a promoted standby replaces a primary that is down', async (context) => {
  const primary = await startDatabase();
  const standby = await startSynchronousStandby(primary);
  onTestFinished(standby.stop);
  const { username, pathname } = new URL(primary.url);
  const [first, second] = [standby, primary.server].map(({ url }) => new URL(url).host);
  const store = await startStoreUnderLoad(
    `postgres://${username}@${first},${second}${pathname}`,
    context,
  );

  await primary.server.halt();
  await standby.promote();
  await store.load.acknowledged(100);
  await store.finish(Object.assign(new URL(standby.url), { pathname }).href);
});

test('a primary that returns as a standby is not used until it is the primary again', async (context) => {
  const first = await startDatabase();
  const second = await first.server.startStandby();
  onTestFinished(second.stop);
  const { username, pathname } = new URL(first.url);
  const hosts = [first.server, second].map(({ url }) => new URL(url).host).join();
  const store = await startStoreUnderLoad(`postgres://${username}@${hosts}${pathname}`, context);

  // Before the primary stops on SIGINT, the primary sends its whole write-ahead log to the standby.
  await first.server.halt('SIGINT');
  await second.promote();
  await first.server.startAsStandbyOf(second.url);
  await store.load.acknowledged(200);
  await second.halt('SIGINT');
  await first.server.promote();
  await store.load.acknowledged(100);
  await store.finish(first.url);
});

test('confirms a delete only after the standby has received the delete', async () => {
  const primary = await startDatabase();
  const standby = await startSynchronousStandby(primary);
  onTestFinished(standby.stop);
  const store = await openPlantStore({ databaseUrl: primary.url });
  onTestFinished(store.close);
  const ids = [1n, 2n, 3n];
  for (const id of ids) await store.create({ id, name: 'x' });
  await standby.halt();
  for (const _ of ['first', 'repeated']) {
    const deletes = ids.map((id) =>
      expect(store.delete(id)).rejects.toMatchObject({ code: 50300 }),
    );
    await Promise.all(deletes);
  }
  await standby.start();
  await vi.waitFor(async () => expect(await store.delete(1n)).toBe(false), 60_000);
});
