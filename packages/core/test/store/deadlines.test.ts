import type { NewPlant } from '@plant-store/schemas';
import { describe, expect, it } from 'vitest';
import type { PlantStore } from '../../src/index.ts';
import { holdOpen, openForSuite, openForTest } from '../fixtures/open-store.ts';
import { createAll, freeId, newPlants } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

const kindsOf = (outcomes: PromiseSettledResult<unknown>[]) =>
  outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'done' : outcome.reason.kind));

const within = (milliseconds: number) => ({ deadline: performance.now() + milliseconds });

describe.each(profiles)('deadlines and overload on $name', (profile) => {
  const suite = openForSuite(profile);
  const isStored = async (id: bigint) => (await suite.store.get(id)) !== undefined;

  it('a write whose deadline has passed changes nothing', async () => {
    const { store } = suite;
    const [plant = { id: 0n, name: '' }, kept = { id: 0n, name: '' }] = newPlants(2);
    await store.create(kept);
    const late = { kind: 'databaseUnavailable', code: 50300 };
    await expect(store.create(plant, within(-1))).rejects.toMatchObject(late);
    await expect(store.replace(kept.id, { name: 'new' }, within(-1))).rejects.toMatchObject(late);
    await expect(store.delete(kept.id, within(-1))).rejects.toMatchObject(late);
    const outcomes = await store.createMany([plant, plant], within(-1));
    expect(outcomes).toMatchObject(Array(2).fill({ id: plant.id, error: late }));
    expect(await isStored(plant.id)).toBe(false);
    expect(await store.get(kept.id)).toMatchObject(kept);
  });

  it('a read whose deadline has passed is rejected', async () => {
    const { store } = suite;
    const calls = [store.get(0n, within(-1)), store.list({ limit: 1 }, within(-1))];
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ code: 50300 })));
  });

  it('a call with an infinite deadline succeeds', async () => {
    const id = freeId();
    const never = { deadline: Number.POSITIVE_INFINITY };
    expect(await suite.store.create({ id, name: 'x' }, never)).toEqual({ name: 'x' });
    expect(await suite.store.delete(id, never)).toBe(true);
  });

  it('the store does not send a waiting create whose caller has disconnected', async () => {
    const { store } = suite;
    const [running = { id: 0n, name: '' }, dropped = { id: 0n, name: '' }] = newPlants(2);
    const caller = { isGone: false };
    const first = store.create(running);
    const second = expect(store.create(dropped, { caller })).rejects.toThrow();
    caller.isGone = true;
    await Promise.all([first, second]);
    expect(await isStored(dropped.id)).toBe(false);
    expect(await store.create(dropped)).toEqual({ name: 'x' });
  });

  it('during a flood, the store rejects further creates immediately, and stores only the accepted plants', async () => {
    const { store } = suite;
    const plants = newPlants(20_000, { name: 'flood', tag: 'flood' });
    let isFirstDone = false;
    const deadline = within(120_000);
    const creates = plants.map((plant, i) => {
      const created = store.create(plant, deadline);
      if (i === 0) created.finally(() => (isFirstDone = true));
      return created;
    });
    const last = await creates.at(-1)?.catch((error) => error);
    expect(last).toMatchObject({
      kind: 'overloaded',
      code: 50301,
      message: expect.stringContaining('nothing was written, send the request again later'),
    });
    expect(isFirstDone).toBe(false);
    const kinds = kindsOf(await Promise.allSettled(creates));
    expect(new Set(kinds)).toEqual(new Set(['done', 'overloaded']));
    const done = kinds.filter((kind) => kind === 'done').length;
    expect(await store.count({ tag: 'flood' })).toMatchObject({ count: done });
    expect(await store.create(plants.at(-1) ?? { id: 0n, name: '' })).toMatchObject({
      name: 'flood',
    });
  });

  it('of many creates with large names, the store accepts some, and rejects the others as overloaded', async () => {
    const { store } = await openForTest(profile);
    const name = 'x'.repeat(2 ** 20);
    const creates = newPlants(80, { name }).map((plant) => store.create(plant, within(120_000)));
    await expect(creates.at(-1)).rejects.toMatchObject({ kind: 'overloaded' });
    const kinds = new Set(kindsOf(await Promise.allSettled(creates)));
    expect(kinds).toEqual(new Set(['done', 'overloaded']));
  });

  it.each<[string, number, (store: PlantStore, i: number) => Promise<unknown>]>([
    ['gets', 3_000, (store, i) => store.get(BigInt(i), within(60_000))],
    ['lists', 500, (store) => store.list({ limit: 200, tag: 'herb' }, within(60_000))],
    ['counts', 1_000, (store) => store.count({}, within(60_000))],
    ['deletes', 1_000, (store, i) => store.delete(BigInt(i), within(60_000))],
  ])('a flood of %s does not stop a create', async (_, length, call) => {
    const { store } = suite;
    await createAll(store, newPlants(200, { name: 'x', tag: 'herb' }));
    const calls = Array.from({ length }, (_, i) => call(store, i));
    const flood = Promise.allSettled(calls);
    const [plant = { id: 0n, name: '' }] = newPlants(1);
    expect(await store.create(plant)).toEqual({ name: 'x' });
    for (const kind of new Set(kindsOf(await flood)))
      expect(['done', 'overloaded']).toContain(kind);
  });

  if (!profile.hasSql) return;

  describe('while another session holds a lock', () => {
    it('a late write gets an error, and takes no effect after the release of the lock', async () => {
      const { store, sql } = suite;
      const [plant = { id: 0n, name: '' }, kept = { id: 0n, name: '' }] = newPlants(2);
      await store.create(kept);
      const release = await holdOpen(sql, 'lock table plants in exclusive mode');
      const late = within(500);
      const writes = [
        store.create(plant, late),
        store
          .createMany([plant], late)
          .then(([one]) => one && 'error' in one && Promise.reject(one.error)),
        store.replace(kept.id, { name: 'new' }, late),
        store.delete(kept.id, late),
      ];
      const error = { status: 'rejected', reason: { code: 50300 } };
      expect(await Promise.allSettled(writes)).toMatchObject([error, error, error, error]);
      await release();
      await untilIdle();
      expect(await isStored(plant.id)).toBe(false);
      expect(await store.get(kept.id)).toMatchObject(kept);
      expect(await store.create(plant)).toEqual({ name: 'x' });
    });

    it('a late read gets an error', async () => {
      const { store, sql } = suite;
      const release = await holdOpen(sql, 'lock table plants in access exclusive mode');
      const late = within(300);
      const reads = [
        store.get(0n, late),
        store.list({ limit: 1 }, late),
        store.list({ limit: 1, search: 'x' }, late),
        store.count({}, late),
        store.changes({}, late),
      ];
      const outcomes = await Promise.allSettled(reads);
      await release();
      expect(outcomes.slice(0, 4)).toMatchObject(Array(4).fill({ reason: { code: 50300 } }));
      await expect.poll(() => store.list({ limit: 1 }).catch(() => {})).toBeDefined();
    });

    it('creates of other ids succeed even after a slow create, and waiting creates after the release', async () => {
      const { store, sql } = suite;
      const [slow = { id: 0n, name: '' }, locked = { id: 0n, name: '' }, ...others] = newPlants(9);
      const lock = ({ id }: NewPlant) =>
        holdOpen(sql, `insert into plants (id, name) values (${id}, 'uncommitted')`);
      const releaseSlow = await lock(slow);
      const slowCreate = store.create(slow);
      await sql`select pg_sleep(0.7)`;
      await Promise.all([releaseSlow(), slowCreate]);
      const release = await lock(locked);
      const waiting = [1, 2, 3].map(() => store.create(locked, within(60_000)));
      await store.get(0n); // Meanwhile, the store sends the waiting creates.
      for (const plant of others) {
        expect(await store.create(plant, within(10_000))).toEqual({ name: 'x' });
      }
      await release();
      expect(await Promise.all(waiting)).toEqual(Array(3).fill({ name: 'x' }));
    });

    it('waiting deletes do not stop creates and reads', async () => {
      const { store, sql } = suite;
      const plants = newPlants(20);
      await createAll(store, plants);
      const release = await holdOpen(sql, 'update plants set tag = tag');
      const deletes = plants.map(({ id }) => store.delete(id, within(60_000)));
      const [other = { id: 0n, name: '' }] = newPlants(1);
      expect(await store.create(other)).toEqual({ name: 'x' });
      expect(await store.get(plants[0]?.id ?? 0n)).toMatchObject({ name: 'x' });
      expect((await store.list({ limit: 1 })).plants).toHaveLength(1);
      await release();
      for (const outcome of await Promise.allSettled(deletes)) {
        if (outcome.status === 'fulfilled') expect(outcome.value).toBe(true);
        else expect(outcome.reason).toMatchObject({ code: 50300 });
      }
    });
  });

  if (!profile.hasTriggers) return;

  it('creates that reach the database after their deadlines get databaseUnavailable', async () => {
    const { store, sql } = await openForTest(profile);
    await sql.unsafe(`
      create function be_late() returns trigger language plpgsql
        as $$ begin raise 'the deadline of this write has passed'; end $$;
      create trigger late before insert on plants for each row execute function be_late()`);
    const creates = newPlants(150).map((plant, i) => store.create(plant, within(60_000 + i)));
    const kinds = kindsOf(await Promise.allSettled(creates));
    expect(new Set(kinds)).toEqual(new Set(['databaseUnavailable']));
  });

  describe('while a statement is slow', () => {
    it('a create that misses its deadline gets an error, and is not stored later', async () => {
      const { store, sql } = await openForTest(profile);
      await sql.unsafe(`
        create function be_slow() returns trigger language plpgsql
          as $$ begin perform pg_sleep(1.5); return new; end $$;
        create trigger slow before insert on plants for each row
          when (new.name = 'slow') execute function be_slow()`);
      const [slow = { id: 0n, name: '' }, other = { id: 0n, name: '' }] = newPlants(2);
      await expect(store.create({ ...slow, name: 'slow' }, within(500))).rejects.toMatchObject({
        code: 50300,
      });
      expect(await store.create(other)).toEqual({ name: 'x' });
      await untilIdle(sql);
      expect(await store.get(slow.id)).toBeUndefined();
    });
  });

  /** Waits until no session of the store runs a statement. */
  async function untilIdle(sql = suite.sql): Promise<void> {
    await expect
      .poll(
        () => sql`
          select from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and state = 'active'`,
      )
      .toHaveLength(0);
  }
});
