import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  connect,
  createDistributedDatabase,
  createEmptyDatabase,
  distribute,
  openStore,
} from '../fixtures/distributed-database.ts';

describe('instances on the nodes of a Citus cluster', () => {
  it('makes an instance on a worker wait until the coordinator has created and distributed the tables', async () => {
    const { url, workerUrls } = await createEmptyDatabase();
    const onWorker = await openStore(workerUrls[0] ?? '');
    await expect(onWorker.ready()).rejects.toMatchObject({
      code: 50300,
      reason: expect.stringContaining('run plant-store distribute there once'),
    });
    const onCoordinator = await openStore(url);
    await onCoordinator.create({ id: 1n, name: 'from before' });
    await distribute(url);
    await vi.waitFor(() => onWorker.ready());
    expect(await onWorker.get(1n)).toMatchObject({ name: 'from before' });
  });

  it('renames the sessions of an instance soon after the tables are distributed', async () => {
    const { url, adminUrl } = await createEmptyDatabase();
    const admin = connect(adminUrl);
    const names = async () => {
      const rows = await admin<{ name: string }[]>`
        select distinct application_name as name from pg_stat_activity
        where datname = current_database() and application_name like 'plant-store%'`;
      return rows.map(({ name }) => name);
    };
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const store = await openStore(url);
    await store.ready();
    expect(await names()).toContain(`plant-store process ${process.pid}`);
    await distribute(url);
    expect(await names()).toContain(`plant-store process ${process.pid}`);
    vi.advanceTimersByTime(15_000);
    await vi.waitFor(() => expect(store.nodes()).toHaveLength(2));
    await vi.waitFor(async () =>
      expect(await names()).not.toContain(`plant-store process ${process.pid}`),
    );
    await store.ready();
    expect(await names()).toEqual([`plant-store cluster process ${process.pid}`]);
  });

  it('renames every session, even a session that the store opens while it notices the cluster', async () => {
    const { workerUrls } = await createDistributedDatabase();
    const databaseUrl = workerUrls[0] ?? '';
    const sql = connect(databaseUrl);
    for (let start = 0; start < 5; start++) {
      const store = await openStore(databaseUrl);
      // While `ready` notices the cluster, each `list` opens a connection.
      await Promise.all([store.ready(), store.list({ limit: 1 }), store.list({ limit: 1 })]);
      await store.ready();
      await vi.waitFor(async () => {
        const names = await sql`
          select distinct application_name as name from pg_stat_activity
          where datname = current_database() and application_name like 'plant-store%'`;
        expect(names).toEqual([{ name: `plant-store cluster process ${process.pid}` }]);
      });
      await store.close();
    }
  });

  it('lets instances on different nodes use the same plants and access tokens', async () => {
    const { url, workerUrls } = await createDistributedDatabase();
    const [first, second, third] = await Promise.all(
      [url, ...workerUrls].map((each) => openStore(each)),
    );
    const ids = Array.from({ length: 50 }, (_, i) => BigInt(i));
    await Promise.all(ids.map((id) => second?.create({ id, name: `plant ${id}` })));
    for (const store of [first, third]) {
      const found = await Promise.all(ids.map((id) => store?.get(id)));
      expect(found.map((plant) => plant?.name)).toEqual(ids.map((id) => `plant ${id}`));
      await expect(store?.create({ id: 7n, name: 'x' })).rejects.toMatchObject({ code: 40900 });
    }
    expect(await third?.delete(7n)).toBe(true);
    expect(await second?.get(7n)).toBeUndefined();

    const token = (await second?.accessTokens.create('Ann')) ?? '';
    expect(await third?.accessTokens.authenticate(token)).toMatchObject({ name: 'Ann' });
    await vi.waitFor(async () => {
      const [stored] = (await first?.accessTokens.list())?.tokens ?? [];
      expect(stored?.lastUsedAt).toBeInstanceOf(Date);
    });
    expect(await first?.accessTokens.revoke('Ann')).toBe(true);
  });
});
