import { type FaultProxy, startFaultProxy, startPostgres } from '@plant-store/test-setup';
import type postgres from 'postgres';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PlantStore } from '../../src/index.ts';
import {
  connectForTest,
  holdOpen,
  openAnother,
  openForTest,
  urlOf,
} from '../fixtures/open-store.ts';
import { idsOf, newPlants } from '../fixtures/plants.ts';

const within = (milliseconds: number) => ({ deadline: performance.now() + milliseconds });
const unavailable = { kind: 'databaseUnavailable', code: 50300 };

/** Creates a plant again and again until the create succeeds. */
const untilCreated = (store: PlantStore, plant = newPlants(1)[0] ?? { id: 0n, name: '' }) =>
  expect
    .poll(() => store.create(plant, within(2_000)).catch(() => {}), { interval: 50 })
    .toEqual({ name: plant.name });

describe('on a network with faults', () => {
  let sql: postgres.Sql;
  let proxy: FaultProxy;
  let store: PlantStore;
  const [plant = { id: 0n, name: '' }, other = { id: 0n, name: '' }] = newPlants(2);
  const stored = () => sql`select id from plants where id = ${String(plant.id)}`;

  beforeEach(async () => {
    const opened = await openForTest();
    sql = opened.sql;
    proxy = await startFaultProxy(urlOf(opened.options));
    store = await openAnother(proxy.url);
    await store.create(other);
    return () => proxy.close();
  });

  /**
   * Sends a write that waits for a lock, and loses the response of the database. `changed` resolves when the
   * write has taken effect.
   */
  async function loseResponse(
    lock: string,
    write: () => Promise<unknown>,
    changed: () => Promise<unknown>,
  ): Promise<unknown> {
    const release = await holdOpen(sql, lock);
    const written = write().catch((error) => error);
    await expect
      .poll(
        () => sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      .toHaveLength(1);
    proxy.fault = 'holdResponses';
    await release();
    await changed();
    proxy.fault = 'refuse';
    proxy.fault = 'none';
    return written;
  }

  const insert = `insert into plants (id, name) values (${plant.id}, 'uncommitted')`;

  it('a create with a lost response is stored, and the error advises to send the create again', async () => {
    const create = () => store.create(plant, within(60_000));
    const error = await loseResponse(insert, create, () => expect.poll(stored).toHaveLength(1));
    expect(error).toMatchObject({
      ...unavailable,
      message: expect.stringContaining('may still be stored, send it again'),
    });
    expect(await create()).toEqual({ name: plant.name });
  });

  it('the store never sends a create twice, because another client may have deleted the plant', async () => {
    const create = () => store.create(plant, within(60_000));
    const error = await loseResponse(insert, create, async () => {
      await expect.poll(stored).toHaveLength(1);
      await sql`delete from plants where id = ${String(plant.id)}`;
    });
    expect(error).toMatchObject(unavailable);
    await untilCreated(store);
    expect(await store.get(plant.id)).toBeUndefined();
  });

  it('the store never sends a delete twice, because a new plant may have the id', async () => {
    await store.create(plant);
    const remove = () => store.delete(plant.id, within(60_000));
    const lock = `select from plants where id = ${plant.id} for update`;
    const error = await loseResponse(lock, remove, async () => {
      await expect.poll(stored).toHaveLength(0);
      await sql`insert into plants (id, name) values (${String(plant.id)}, 'from elsewhere')`;
    });
    expect(error).toMatchObject(unavailable);
    await untilCreated(store);
    expect(await store.get(plant.id)).toMatchObject({ name: 'from elsewhere' });
  });

  it('calls end at their deadline while the network is silent, and later calls succeed', async () => {
    proxy.fault = 'blackhole';
    const calls = [
      store.create(plant, within(700)),
      store.delete(other.id, within(700)),
      store.get(other.id, within(700)),
      store.list({ limit: 1 }, within(700)),
    ];
    expect(await Promise.allSettled(calls)).toMatchObject(
      calls.map(() => ({ status: 'rejected', reason: unavailable })),
    );
    proxy.fault = 'none';
    await untilCreated(store);
    expect(await store.get(other.id)).toMatchObject(other);
    expect(await store.get(plant.id)).toBeUndefined();
  });

  it('the store recovers when a firewall forgets the connections', async () => {
    proxy.forget();
    await untilCreated(store);
    await expect.poll(() => store.get(other.id).catch(() => {})).toMatchObject(other);
    await expect.poll(() => store.list({ limit: 1 }).catch(() => {})).toHaveProperty('plants');
  });

  it('the store loses no acknowledged plant when an operator ends its sessions again and again', async () => {
    let isEnding = true;
    const acknowledged: bigint[] = [];
    const write = async () => {
      while (isEnding) {
        const [next = plant] = newPlants(1);
        const created = await store.create(next, within(2_000)).catch(() => {});
        if (created) acknowledged.push(next.id);
      }
    };
    const writing = Promise.all(Array.from({ length: 10 }, write));
    for (let i = 0; i < 5; i++) {
      const before = acknowledged.length;
      await expect.poll(() => acknowledged.length, { interval: 5 }).toBeGreaterThan(before + 20);
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`;
    }
    await untilCreated(store);
    isEnding = false;
    await writing;
    const rows =
      await sql`select id from plants where id = any (${acknowledged.map(String)}::bigint[])`;
    expect(rows).toHaveLength(acknowledged.length);
  });

  it('the store repeats a read whose session has ended', async () => {
    await sql`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    expect(await store.get(other.id)).toMatchObject(other);
    expect((await store.list({ limit: 1 })).plants).toHaveLength(1);
  });
});

describe('while a synchronous standby is down', () => {
  let admin: postgres.Sql;
  let url: string;

  beforeAll(async () => {
    const server = await startPostgres({ fsync: 'off' });
    url = server.url;
    return () => server.stop();
  });

  const setStandbys = async (names: string) => {
    await admin.unsafe(`alter system set synchronous_standby_names = '${names}'`);
    await admin`select pg_reload_conf()`;
    await expect
      .poll(() => admin`select current_setting('synchronous_standby_names') as names`)
      .toEqual([{ names }]);
  };
  const waiting = () => admin`select pid from pg_stat_activity where wait_event = 'SyncRep'`;

  beforeEach(async () => {
    admin = connectForTest(url);
    await admin`set synchronous_commit = local`;
    return () => setStandbys('');
  });

  async function openWithStandby([first = { id: 0n, name: '' }] = newPlants(1)) {
    const store = await openAnother(url);
    await store.create(first);
    await setStandbys('down');
    // Commits begin to wait some time after the server has read the setting.
    const probe = connectForTest(url);
    await expect
      .poll(async () => {
        void probe`select pg_logical_emit_message(true, 'probe', '')`.catch(() => {});
        return waiting();
      })
      .not.toHaveLength(0);
    await expect.poll(cancelWaiting).toHaveLength(0);
    return store;
  }

  /** Cancels all waits for the standby. Returns the sessions that waited. */
  async function cancelWaiting() {
    const sessions = await waiting();
    for (const { pid } of sessions) await admin`select pg_cancel_backend(${pid})`;
    return sessions;
  }

  it('a create whose wait for the standby is cancelled gets 50300', async () => {
    const store = await openWithStandby();
    const [plant = { id: 0n, name: '' }] = newPlants(1);
    const create = store.create(plant, within(3_000)).then(
      () => 'created',
      (error) => error.code,
    );
    await expect.poll(cancelWaiting).not.toHaveLength(0);
    expect(await create).toBe(50300);
    await setStandbys('');
    await untilCreated(store, plant);
  });

  it('creates end at their deadline and use few sessions, and succeed when commits no longer wait', async () => {
    const store = await openWithStandby();
    const sessions = () => admin`
      select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and backend_type = 'client backend'`;
    for (let i = 0; i < 3; i++) {
      const creates = newPlants(50).map((plant) => store.create(plant, within(400)));
      const outcomes = await Promise.allSettled(creates);
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({
          status: 'rejected',
          reason: { code: expect.toSatisfy((code) => [50300, 50301].includes(code)) },
        });
      }
      expect((await sessions()).length).toBeLessThan(20);
    }
    await setStandbys('');
    await untilCreated(store);
  });

  it('a store closes after the deadline of its last write, although the commit still waits', async () => {
    const store = await openWithStandby();
    const create = store.create({ id: 1n, name: 'x' }, within(400));
    await Promise.all([expect(create).rejects.toMatchObject(unavailable), store.close()]);
  });

  it('a repeated create succeeds only when the first commit is durable', async () => {
    const store = await openWithStandby();
    const [plant = { id: 0n, name: '' }] = newPlants(1);
    await expect(store.create(plant, within(400))).rejects.toMatchObject(unavailable);
    const again = await store.create(plant, within(1_000)).then(
      () => 'created',
      (error) => error.code,
    );
    expect([50300, 50301]).toContain(again);
    await setStandbys('');
    await untilCreated(store, plant);
    expect(idsOf((await store.list({ limit: 1_000 })).plants)).toContain(plant.id);
  });

  it('an edit reports a missing plant only when the delete of the plant is durable', async () => {
    const plants = newPlants(1);
    const [{ id } = { id: 0n }] = plants;
    const store = await openWithStandby(plants);
    const removed = expect(store.delete(id, within(3_000))).rejects.toMatchObject(unavailable);
    await expect.poll(cancelWaiting).not.toHaveLength(0);
    await removed;
    expect(await store.get(id)).toBeUndefined();
    const edits = [
      store.delete(id, within(1_000)),
      store.replace(id, { name: 'x' }, within(1_000)),
    ];
    await Promise.all(edits.map((edit) => expect(edit).rejects.toMatchObject(unavailable)));
    await setStandbys('');
    await expect.poll(() => store.delete(id).catch(() => {})).toBe(false);
  });
});
