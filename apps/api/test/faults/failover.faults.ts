import { openPlantStore } from '@plant-store/core';
import {
  createDatabase,
  hasPosixSignals,
  startFaultProxy,
  startPostgres,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, it, onTestFinished, vi } from 'vitest';

it.runIf(hasPosixSignals)(
  'a plant that only the old primary has is not acknowledged after a failover',
  async () => {
    const primary = await startPostgres({ fsync: 'off' });
    onTestFinished(primary.stop);
    const { pathname } = new URL(await createDatabase(primary.url));
    const replication = await startFaultProxy(primary.url);
    onTestFinished(replication.close);
    const standby = await primary.startStandby(replication.url);
    onTestFinished(standby.stop);
    const [onPrimary, onStandby] = [primary, standby].map(({ url }) =>
      postgres(Object.assign(new URL(url), { pathname }).href, { max: 2, onnotice: () => {} }),
    ) as [postgres.Sql, postgres.Sql]; // Two servers, two clients.
    onTestFinished(async () => {
      await Promise.all([onPrimary.end({ timeout: 0 }), onStandby.end({ timeout: 0 })]);
    });
    const proxy = await startFaultProxy(primary.url);
    onTestFinished(proxy.close);
    const hosts = [proxy, standby].map(({ url }) => new URL(url).host).join();
    const store = await openPlantStore({ databaseUrl: `postgres://postgres@${hosts}${pathname}` });
    onTestFinished(store.close);

    // Replication is cut, so the create waits for the standby until somebody cancels that wait.
    await onPrimary`alter system set synchronous_standby_names = '*'`;
    await onPrimary`select pg_reload_conf()`;
    await store.create({ id: 1n, name: 'replicated' });
    replication.fault = 'refuse';
    await vi.waitFor(async () => {
      expect(await onPrimary`select from pg_stat_replication`).toHaveLength(0);
    });
    const plant = { id: 2n, name: 'only on the old primary' };
    const first = expect(store.create(plant)).rejects.toMatchObject({ code: 50300 });
    const waiting = () => onPrimary`select pid from pg_stat_activity where wait_event = 'SyncRep'`;
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(1));
    await onPrimary`
      select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`;
    await first;
    expect(await onPrimary`select name from plants where id = 2`).toEqual([{ name: plant.name }]);

    await onStandby`select pg_promote()`;
    const response = proxy.holdResponse(plant.name);
    const retry = store.create(plant);
    // By then, the retry has read the plant on the old primary, or waits for the standby there.
    const isWaiting = vi.waitFor(async () => expect(await waiting()).toHaveLength(1));
    await Promise.any([response.held, isWaiting]);
    // This create loses its connection with the primary, and the store replaces all connections.
    const lost = { id: 3n, name: 'another' };
    // A batch does not wait behind the retry, whose statement is in its commit.
    const other = store.createMany([lost]);
    await vi.waitFor(async () => {
      const inserts = await onPrimary`
        select from pg_stat_activity where wait_event = 'SyncRep' and query like '%insert into plants%'`;
      expect(inserts).toHaveLength(1);
    });
    await primary.halt();
    expect(await other).toMatchObject([{ error: { code: 50300 } }]);
    response.release();

    expect(await retry).toEqual({ name: plant.name });
    expect(await onStandby`select name from plants order by id`).toEqual([
      { name: 'replicated' },
      { name: plant.name },
    ]);
  },
);

it.runIf(hasPosixSignals)(
  'an instance has at most six sessions while the standby is down, and none when the instance has stopped',
  async () => {
    const primary = await startPostgres({ fsync: 'off' });
    onTestFinished(primary.stop);
    const databaseUrl = await createDatabase(primary.url);
    const sql = postgres(databaseUrl, { max: 1 });
    onTestFinished(() => sql.end());
    const sessions = async () => {
      const [{ count } = { count: 0 }] = await sql<{ count: number }[]>`
        select count(*)::int from pg_stat_activity
        where application_name like 'plant-store process%' and datname = current_database()`;
      return count;
    };
    const store = await openPlantStore({ databaseUrl });
    await store.create({ id: -1n, name: 'x' });
    await sql`alter system set synchronous_standby_names = 'nobody'`;
    await sql`select pg_reload_conf()`;

    let most = 0;
    let isOver = false;
    const load = Array.from({ length: 50 }, async (_, client) => {
      for (let i = 0; !isOver; i++) {
        // The first creates may succeed, until the server has read its new settings.
        await store.create({ id: BigInt(1_000_000 * client + i), name: 'x' }).catch(() => {});
      }
    });
    const until = performance.now() + 20_000; // Four times the deadline of a create.
    while (performance.now() < until) most = Math.max(most, await sessions());
    isOver = true;
    await Promise.all(load);
    expect(most).toBeLessThanOrEqual(6);
    expect(most).toBeGreaterThan(1);

    await store.close();
    await vi.waitFor(async () => expect(await sessions()).toBe(0));
  },
);
