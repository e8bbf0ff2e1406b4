import { hasPosixSignals, startFaultProxy } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { setSetting } from './plants-database.ts';
import { startDatabase } from './store-under-load.ts';
import { type Instance, startInstance } from './two-instances.ts';

// These tests stop processes by signals, which Windows does not have.
const test = it.runIf(hasPosixSignals);

/** A client waits for this many milliseconds before it uses the other instance. */
const patience = 6_000;

const ids = Array.from({ length: 12 }, (_, i) => i + 1);
const plantOf = (id: number) => ({ id, name: `plant ${id}` });

test('a statement that the network delivers late changes nothing', async () => {
  const { url, admin } = await startDatabase();
  const proxy = await startFaultProxy(url);
  onTestFinished(proxy.close);
  const [slow, other] = [await startInstance(proxy.url), await startInstance(url)];
  for (const id of ids) await slow.create(plantOf(id));
  proxy.delay = 8_000;
  const late = ids.map((id) => slow.delete(id, patience));
  const created = ids.map((id) => slow.call('POST', '/plants', plantOf(id + 100), patience));
  await Promise.all([...late, ...created]);
  for (const id of ids) expect(await other.delete(id)).toBe('204');
  for (const id of ids) expect(await other.create(plantOf(id))).toBe('200');
  proxy.delay = 0;
  await settled(slow);
  expect(await admin`select id::int from plants where name like 'plant %' order by id`).toEqual(
    ids.map((id) => ({ id })),
  );
});

test('a create whose response was lost is applied once', async () => {
  const { url } = await startDatabase();
  const proxy = await startFaultProxy(url);
  onTestFinished(proxy.close);
  const [first, other] = [await startInstance(proxy.url), await startInstance(url)];
  await first.create(plantOf(100));
  for (const id of ids) {
    const response = proxy.holdResponse('INSERT 0 ');
    const created = first.create(plantOf(id));
    await response.held;
    expect(await other.get(id)).toBe('200');
    expect(await other.delete(id)).toBe('204');
    proxy.fault = 'refuse'; // Resets the connection.
    proxy.fault = 'none';
    expect(await created).toBe('50300');
    expect(await other.get(id)).toBe('40401');
  }
});

test('a delete is not confirmed before the standby has it', async () => {
  const database = await startDatabase();
  const standby = await database.server.startStandby();
  onTestFinished(standby.stop);
  const instance = await startInstance(database.url);
  await setSetting(database, "set synchronous_standby_names = '*'");
  for (const id of ids) expect(await instance.create(plantOf(id))).toBe('200');
  await standby.halt();
  for (const _ of ['first', 'repeated']) {
    const deletes = ids.slice(0, 3).map((id) => instance.delete(id));
    expect(await Promise.all(deletes)).toEqual(['50300', '50300', '50300']);
  }
  await standby.start();
  await vi.waitFor(async () => expect(await instance.delete(1)).toBe('40401'));
});

test('no session stays behind after the network has silently cut all connections six times', async () => {
  const { url, admin } = await startDatabase();
  const proxy = await startFaultProxy(url);
  onTestFinished(proxy.close);
  const instance = await startInstance(proxy.url);
  const sessions = async () =>
    (await admin`select from pg_stat_activity where application_name like 'plant-store process%'`)
      .length;
  let most = 0;
  for (let cut = 0; cut < 6; cut++) {
    await vi.waitFor(async () => {
      const creates = ids.map((id) => instance.create(plantOf(id)));
      const reads = ids.map((id) => instance.get(id));
      const lists = ids.map(() => instance.call('GET', '/plants'));
      for (const call of [...creates, ...reads, ...lists]) expect(await call).toBe('200');
    });
    most = Math.max(most, await sessions());
    proxy.forget();
  }
  await vi.waitFor(async () => {
    expect(await instance.create(plantOf(1))).toBe('200');
    most = Math.max(most, await sessions());
    expect(await sessions()).toBeLessThanOrEqual(6);
  });
  expect(most).toBeLessThanOrEqual(12);
});

/** Waits until the creates and deletes of an instance succeed again. */
async function settled(instance: Instance): Promise<void> {
  await vi.waitFor(async () => expect(await instance.create(plantOf(999))).toBe('200'), {
    timeout: 60_000,
  });
  await expect.poll(() => instance.delete(999), { timeout: 60_000 }).toBe('204');
}
