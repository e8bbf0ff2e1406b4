import { platform } from 'node:os';
import type { FaultProxy } from '@plant-store/test-setup';
import type postgres from 'postgres';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import { closeAtEnd, connectBehindProxy } from '../fixtures/databases.ts';
import { startProxy } from '../fixtures/proxy.ts';

let sql: postgres.Sql;
let proxy: FaultProxy;
let store: PlantStore;
const plant = { id: 1n, name: 'Monstera deliciosa' };

/** The row in the response for a deleted plant: one plant was deleted, and no plant is still there. */
const deletedRow = '\0\0\0\x011\0\0\0\x010';

beforeEach(async () => {
  ({ sql, proxy } = await connectBehindProxy());
  store = closeAtEnd(await openPlantStore({ databaseUrl: proxy.url }));
});

it('reports an unknown outcome when the response is lost, and accepts the same create again', async () => {
  const lost = proxy.loseResponse('INSERT 0 1');
  await expect(store.create(plant)).rejects.toMatchObject({ code: 50300 });
  await lost;
  expect(await sql`select name from plants`).toEqual([{ name: plant.name }]);
  expect(await store.create(plant)).toEqual({ name: plant.name });
});

it('reconnects after the system clock was set back', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  proxy.fault = 'refuse';
  await expect(store.create(plant)).rejects.toMatchObject({ code: 50300 });
  vi.setSystemTime(Date.now() - 3_600_000);
  proxy.fault = 'none';
  expect(await store.create(plant)).toEqual({ name: plant.name });
});

it('does not send a create again, because another client may have deleted the plant after the first create', async () => {
  await store.create({ id: 2n, name: 'Ficus' });
  const held = proxy.holdResponse('INSERT 0 ');
  const create = expect(store.create(plant)).rejects.toMatchObject({ code: 50300 });
  await held.held;
  await sql`delete from plants where id = ${String(plant.id)}`;
  proxy.fault = 'refuse';
  proxy.fault = 'none';
  await create;
  expect(await store.get(plant.id)).toBeUndefined();
});

it('does not send a delete again, because the second delete would find no plant', async () => {
  await store.create(plant);
  const lost = proxy.loseResponse(deletedRow);
  await expect(store.delete(plant.id)).rejects.toMatchObject({ code: 50300 });
  await lost;
  expect(await store.delete(plant.id)).toBe(false);
});

it('writes nothing when a write waits for a lock until its deadline', async () => {
  await store.create(plant);
  const other = await sql.reserve();
  await other`begin`;
  await other`lock table plants in exclusive mode`;
  const late = { deadline: performance.now() + 300 };
  const writes = [store.create({ id: 2n, name: 'Ficus' }, late), store.delete(plant.id, late)];
  for (const { status } of await Promise.allSettled(writes)) expect(status).toBe('rejected');
  const active = () => sql`
    select from pg_stat_activity
    where application_name like 'plant-store process%' and datname = current_database() and state = 'active'`;
  await vi.waitFor(async () => expect(await active()).toEqual([]));
  await other`rollback`;
  other.release();
  expect(await sql`select id::int from plants`).toEqual([{ id: 1 }]);
});

it('rejects only one write after the clock of the database was changed', async () => {
  const server = await startWithClockBehind(proxy.url);
  const opened = closeAtEnd(await openPlantStore({ databaseUrl: server.url }));
  expect(await opened.delete(5n)).toBe(false);
  // After the connection was opened, the clock of the database moves a minute ahead.
  server.catchUp();
  await expect(opened.create(plant)).rejects.toMatchObject({
    code: 50300,
    message: expect.stringContaining('nothing was written'),
  });
  expect(await sql`select from plants`).toEqual([]);
  expect(await opened.create(plant)).toEqual({ name: plant.name });
  expect(await opened.delete(plant.id)).toBe(true);
});

/** Starts a proxy. New clients see a server whose clock is a minute behind. */
async function startWithClockBehind(serverUrl: string) {
  let behind = 60_000;
  const earlier = (time: string) => String(Number(time) - behind);
  const port = await startProxy(serverUrl, {
    response(message) {
      const text = message.toString('latin1').replace(/\d{13}(?=\.\d{6})/, earlier);
      return Buffer.from(text, 'latin1');
    },
  });
  return {
    url: Object.assign(new URL(serverUrl), { port: String(port) }).href,
    catchUp() {
      behind = 0;
    },
  };
}

it.skipIf(platform() === 'win32')('connects over a Unix domain socket', async () => {
  const [row] = await sql`show unix_socket_directories`;
  const [server] = await sql`show port`;
  const { pathname } = new URL(proxy.url);
  const directory = encodeURIComponent(row?.['unix_socket_directories']);
  const parameters = `host=${directory}&port=${server?.['port']}`;
  const databaseUrl = `postgres://postgres@${pathname}?${parameters}`;
  const opened = closeAtEnd(await openPlantStore({ databaseUrl }));
  expect(await opened.create(plant)).toEqual({ name: plant.name });
  expect(
    await sql`select client_addr from pg_stat_activity
    where application_name like 'plant-store process%' and datname = current_database() and client_addr is null
    limit 1`,
  ).toHaveLength(1);
});

it('rejects an invalid URL with an error that shows the valid form', async () => {
  await expect(openPlantStore({ databaseUrl: 'none' })).rejects.toMatchObject({
    name: 'DatabaseSettingsError',
    message: expect.stringContaining('check its URL, postgres://user:password@host:port/database'),
  });
});
