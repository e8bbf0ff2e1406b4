import { openPlantStore } from '@plant-store/core';
import { hasPosixSignals, startFaultProxy } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, it, onTestFinished, vi } from 'vitest';
import { setSetting } from './plants-database.ts';
import { startDatabase } from './store-under-load.ts';

it.runIf(hasPosixSignals)(
  'after a failover, the store does not acknowledge a plant that only the old primary has',
  async () => {
    const primary = await startDatabase();
    const { admin: onPrimary } = primary;
    const replication = await startFaultProxy(primary.server.url);
    onTestFinished(replication.close);
    const standby = await primary.server.startStandby(replication.url);
    onTestFinished(standby.stop);
    const { pathname } = new URL(primary.url);
    const standbyUrl = Object.assign(new URL(standby.url), { pathname });
    const onStandby = postgres(standbyUrl.href, { max: 1 });
    onTestFinished(() => onStandby.end());
    const proxy = await startFaultProxy(primary.url);
    onTestFinished(proxy.close);
    const databaseUrl = proxy.url.replace(pathname, `,${standbyUrl.host}${pathname}`);
    const store = await openPlantStore({ databaseUrl });
    onTestFinished(store.close);

    // Replication is down, so the create waits until somebody cancels the wait.
    await setSetting(primary, "set synchronous_standby_names = '*'");
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

    await standby.promote();
    const response = proxy.holdResponse(plant.name);
    const retry = store.create(plant);
    // The retry uses the old primary. Either the retry has read the plant, and the proxy holds the response.
    // Or the commit of the retry waits for the standby.
    const isWaiting = vi.waitFor(async () => expect(await waiting()).toHaveLength(1));
    await Promise.any([response.held, isWaiting]);
    // A create loses its connection when the primary stops. The store then replaces all its connections to
    // the database.
    const lost = { id: 3n, name: 'another' };
    // `createMany` does not wait for the commit of the retry, and sends a statement immediately.
    const other = store.createMany([lost]);
    await vi.waitFor(async () => {
      const inserts = await onPrimary`
        select from pg_stat_activity where wait_event = 'SyncRep' and query like '%insert into plants%'`;
      expect(inserts).toHaveLength(1);
    });
    await primary.server.halt();
    expect(await other).toMatchObject([{ error: { code: 50300 } }]);
    response.release();

    expect(await retry).toEqual({ name: plant.name });
    expect(await onStandby`select name from plants order by id`).toEqual([
      { name: 'replicated' },
      { name: plant.name },
    ]);
  },
);
