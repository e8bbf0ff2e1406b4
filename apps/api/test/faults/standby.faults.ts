import { hasPosixSignals, type TestPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { it, onTestFinished } from 'vitest';
import { setSetting, startPlantsDatabase } from './plants-database.ts';
import { startStoreUnderLoad } from './store-under-load.ts';

// Windows has no signals: a process cannot exit with code 0 on SIGTERM there.
const test = it.runIf(hasPosixSignals);

test('a promoted standby replaces a primary that is down', async ({ task }) => {
  const primary = await startPlantsDatabase();
  onTestFinished(primary.stop);
  const standby = await primary.server.startStandby();
  onTestFinished(standby.stop);
  const admin = postgres(primary.server.url, { max: 1 });
  await setSetting(admin, "set synchronous_standby_names = '*'");
  await admin.end();
  const { username, pathname } = new URL(primary.url);
  const [first, second] = [standby, primary.server].map(({ url }) => new URL(url).host);
  const store = await startStoreUnderLoad(`postgres://${username}@${first},${second}${pathname}`);
  onTestFinished(store.kill);

  await primary.server.halt();
  await promote(standby);
  await store.load.acknowledged(100);
  await store.finish(Object.assign(new URL(standby.url), { pathname }).href, task);
});

test('a primary that returns as a standby is not used until it is the primary again', async ({
  task,
}) => {
  const first = await startPlantsDatabase();
  onTestFinished(first.stop);
  const second = await first.server.startStandby();
  onTestFinished(second.stop);
  const { username, pathname } = new URL(first.url);
  const hosts = [first.server, second].map(({ url }) => new URL(url).host).join();
  const store = await startStoreUnderLoad(`postgres://${username}@${hosts}${pathname}`);
  onTestFinished(store.kill);

  // A graceful shutdown sends the whole write-ahead log to the standby.
  await first.server.halt('SIGINT');
  await promote(second);
  await first.server.startAsStandbyOf(second.url);
  await store.load.acknowledged(200);
  await second.halt('SIGINT');
  await promote(first.server);
  await store.load.acknowledged(100);
  await store.finish(first.url, task);
});

async function promote({ url }: TestPostgres): Promise<void> {
  const sql = postgres(url, { max: 1 });
  await sql`select pg_promote()`;
  await sql.end();
}
