import { Buffer } from 'node:buffer';
import { scopes } from '@plant-store/schemas';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPlantStore, type PlantStore } from '../../src/index.ts';
import { createCaller } from '../../src/procedures/router.ts';
import { aloneForSuite, openForSuite, openForTest } from '../fixtures/open-store.ts';
import {
  changesAfter,
  createAll,
  endOf,
  freeId,
  idsOf,
  maxId,
  minId,
  newPlants,
  summaryOf,
} from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

const plantsOf = ({ changes }: { changes: readonly { plant: { id: bigint } }[] }) =>
  changes.map(({ plant }) => plant.id);

describe.each(profiles)('feed on $name', (shared) => {
  const profile = aloneForSuite(shared);
  const suite = openForSuite(profile);
  const caller = () => createCaller({ store: suite.store, principal: { name: 'test', scopes } });

  it('shows the changes after a cursor, in the order in which they happened', async () => {
    const { store } = suite;
    const [before, second, first] = newPlants(3, { name: 'Monstera 🌱', tag: 'Araceae' });
    if (!before || !second || !first) throw new Error('there are three plants');
    await store.create(before);
    const after = await endOf(store);
    await store.create(first);
    await store.create(second);
    await store.delete(before.id);
    const { changes, next } = await changesAfter(store, after, 3);
    expect(changes).toEqual([
      { type: 'created', plant: { ...first, createdAt: expect.any(Date) } },
      { type: 'created', plant: { ...second, createdAt: expect.any(Date) } },
      { type: 'deleted', plant: { ...before, createdAt: expect.any(Date) } },
    ]);
    expect(await store.changes({ after: next })).toEqual({ changes: [], next });
    expect((await store.changes({})).next).toBe(next);
  });

  it('returns the cursor of its end, which stays the same while nothing changes', async () => {
    await endOf(suite.store);
    const end = await caller().listPlantChanges({});
    expect(end).toEqual({ changes: [], next: expect.any(String) });
    expect(await suite.store.changes({})).toEqual(end);
    expect(await suite.store.changes({ after: end.next })).toEqual(end);
  });

  it('shows the smallest and the largest id, and splits a transaction into pages', async () => {
    const { store } = suite;
    const after = await endOf(store);
    await createAll(
      store,
      [maxId, 0n, minId].map((id) => ({ id, name: 'x' })),
    );
    const all = await changesAfter(store, after, 3);
    expect(plantsOf(all).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([minId, 0n, maxId]);
    const seen: bigint[] = [];
    let cursor = after;
    for (let i = 0; i < 3; i++) {
      const page = await store.changes({ after: cursor, limit: 1 });
      expect(page.changes).toHaveLength(1);
      seen.push(...plantsOf(page));
      cursor = page.next;
    }
    expect(seen).toEqual(plantsOf(all));
    for (const id of seen) await store.delete(id);
    expect((await changesAfter(store, cursor, 3)).changes.map(({ type }) => type)).toEqual(
      Array(3).fill('deleted'),
    );
  });

  it('shows each of many changes exactly once, whatever the limit is', async () => {
    const { store } = suite;
    const after = await endOf(store);
    const plants = newPlants(1_500);
    await createAll(store, plants);
    await changesAfter(store, after, 1_500);
    for (const limit of [7, 499, 1_000]) {
      const seen: bigint[] = [];
      for (let cursor = after; ; ) {
        const page = await store.changes({ after: cursor, limit });
        if (page.changes.length === 0) break;
        expect(page.changes.length).toBeLessThanOrEqual(limit);
        seen.push(...plantsOf(page));
        cursor = page.next;
      }
      expect(seen.toSorted()).toEqual(idsOf(plants).toSorted());
    }
  });

  it('limits the bytes of a page, but shows at least one change', async () => {
    const { store } = suite;
    const after = await endOf(store);
    const large = newPlants(3, { name: '🌱'.repeat(2 ** 18) });
    for (const plant of large) await store.create(plant);
    await changesAfter(store, after, 3);
    for (let cursor = after, i = 0; i < 3; i++) {
      const page = await store.changes({ after: cursor });
      expect(plantsOf(page)).toEqual([large[i]?.id]);
      cursor = page.next;
    }
  });

  it('shows only the delete when a plant was created and deleted after the cursor', async () => {
    const { store } = suite;
    const after = await endOf(store);
    const id = freeId();
    await store.create({ id, name: 'Hoya' });
    await store.delete(id);
    expect((await changesAfter(store, after, 1)).changes).toMatchObject([
      { type: 'deleted', plant: { id, name: 'Hoya' } },
    ]);
  });

  it('shows the delete before the create when another plant gets the id', async () => {
    const { store } = suite;
    const id = freeId();
    await store.create({ id, name: 'Hoya' });
    const after = await endOf(store);
    await store.delete(id);
    await store.create({ id, name: 'Ficus' });
    expect((await changesAfter(store, after, 2)).changes).toMatchObject([
      { type: 'deleted', plant: { name: 'Hoya' } },
      { type: 'created', plant: { name: 'Ficus' } },
    ]);
  });

  it('makes a copy equal to the table, even after concurrent writes of several clients', async () => {
    const { store } = suite;
    const ids = idsOf(newPlants(30));
    let isWriting = true;
    const write = async (seed: number) => {
      for (let i = seed; isWriting; i += 7) {
        const id = ids[i % ids.length] ?? 0n;
        if (i % 3 === 0) await store.delete(id);
        else await store.create({ id, name: `plant ${i % 2}` }).catch(() => {});
      }
    };
    const writing = [1, 2, 3].map(write);
    const read = async () => {
      const plants = await Promise.all(ids.map((id) => store.get(id)));
      return new Map(plants.flatMap((plant) => (plant ? [[plant.id, plant.name] as const] : [])));
    };
    let after = await endOf(store);
    const copy = await read();
    const follow = async () => {
      const { changes, next } = await store.changes({ after });
      for (const { type, plant } of changes) {
        if (type === 'deleted') copy.delete(plant.id);
        else copy.set(plant.id, plant.name);
      }
      after = next;
    };
    for (let i = 0; i < 20; i++) await follow();
    isWriting = false;
    await Promise.all(writing);
    const table = await read();
    await expect
      .poll(async () => {
        await follow();
        return copy;
      })
      .toEqual(table);
  });

  it.each(['x', '%00', '', 'a'.repeat(100), Buffer.from('a 1').toString('base64url')])(
    'rejects the text %j, which is not a cursor',
    async (after) => {
      const error = { code: 40001, message: expect.stringContaining('after') };
      await expect(suite.store.changes({ after })).rejects.toMatchObject(error);
      await expect(caller().listPlantChanges({ after })).rejects.toMatchObject(error);
      await expect(suite.store.follow({ after }).next()).rejects.toMatchObject(error);
    },
  );

  it('rejects a cursor of another database', async () => {
    const { store: other } = await openForTest(profile);
    const after = await endOf(other);
    const expired = {
      kind: 'cursorExpired',
      code: 41000,
      message: expect.stringContaining('empty your copy, and list the plants again'),
    };
    await expect(suite.store.changes({ after })).rejects.toMatchObject(expired);
    await expect(suite.store.changes({ after, wait: 20 })).rejects.toMatchObject(expired);
    await expect(suite.store.follow({ after }).next()).rejects.toMatchObject(expired);
    await expect(caller().plantChanges({ after })).rejects.toMatchObject(expired);
  });

  it('continues after the store was closed and opened again', async () => {
    const { options, remove } = await profile.create();
    onTestFinished(remove);
    const using = async <T>(use: (store: PlantStore) => Promise<T>) => {
      const store = await openPlantStore(options, { requireConnection: true });
      return use(store).finally(() => store.close());
    };
    const after = await using(async (store) => {
      const end = await endOf(store);
      await store.create({ id: 1n, name: 'Hoya' });
      return end;
    });
    await using(async (store) => {
      expect(plantsOf(await changesAfter(store, after, 1))).toEqual([1n]);
    });
  });

  describe('a wait', () => {
    it('ends with the next change', async () => {
      const { store } = suite;
      const after = await endOf(store);
      const waiting = [1, 2, 3].map(() => store.changes({ after, wait: 20 }));
      const [plant = { id: 0n, name: '' }] = newPlants(1);
      await store.create(plant);
      for (const page of await Promise.all(waiting)) {
        expect(summaryOf(page)).toEqual([`created ${plant.id}`]);
      }
    });

    it('ends with an empty page when nothing changes', async () => {
      const after = await endOf(suite.store);
      expect(await suite.store.changes({ after, wait: 1 })).toEqual({ changes: [], next: after });
    });

    it('ends when the caller has disconnected', async () => {
      const after = await endOf(suite.store);
      const disconnecting = { isGone: false };
      const waiting = suite.store.changes({ after, wait: 20 }, { caller: disconnecting });
      disconnecting.isGone = true;
      expect((await waiting.catch(() => ({ changes: [] }))).changes).toEqual([]);
    });
  });

  describe('a follower', () => {
    it('gets the cursor of the end first, and afterwards each change once', async () => {
      const { store } = suite;
      const pages = store.follow();
      expect((await pages.next()).value.changes).toEqual([]);
      const plants = newPlants(2_500);
      await createAll(store, plants);
      const seen: bigint[] = [];
      while (seen.length < plants.length) seen.push(...plantsOf((await pages.next()).value));
      expect(seen.toSorted()).toEqual(idsOf(plants).toSorted());
    });

    it('hides no change from a caller that is behind it', async () => {
      const { store } = await openForTest(profile); // No follower of another test uses this store.
      const { next: after } = await store.changes({});
      const [early, first, last] = [newPlants(1), newPlants(1), newPlants(3)];
      await createAll(store, early);
      await expect.poll(async () => plantsOf(await store.changes({ after }))).toHaveLength(1);
      const pages = store.follow();
      const { next: end } = (await pages.next()).value;
      await store.changes({ after: end, wait: 1 }); // After this call, the process keeps new changes.
      for (const added of [first, last]) {
        const next = pages.next();
        await createAll(store, added);
        expect(plantsOf((await next).value)).toEqual(idsOf(added));
      }
      pages.next().catch(() => {}); // While a follower waits, the process keeps changes.
      const page = await store.changes({ after, limit: 2 });
      expect(plantsOf(page)).toEqual(idsOf([...early, ...first]));
      for (const limit of [1, 2, 5]) {
        for (let cursor = page.next, i = 0; i < last.length; i += limit) {
          const rest = await store.changes({ after: cursor, limit, wait: 5 });
          expect(plantsOf(rest)).toEqual(idsOf(last.slice(i, i + limit)));
          cursor = rest.next;
        }
      }
    });

    it('gets pages in order when it asks for two pages at the same time', async () => {
      const { store } = suite;
      const after = await endOf(store);
      const [one = { id: 0n, name: '' }, two = { id: 0n, name: '' }] = newPlants(2);
      const pages = store.follow({ after });
      const both = [pages.next(), pages.next()];
      await store.create(one);
      expect(plantsOf((await both[0])?.value ?? { changes: [] })).toEqual([one.id]);
      await store.create(two);
      expect(plantsOf((await both[1])?.value ?? { changes: [] })).toEqual([two.id]);
    });

    it('ends with the reason of its abort signal', async () => {
      const controller = new AbortController();
      const after = await endOf(suite.store);
      const pages = suite.store.follow({ after, signal: controller.signal });
      const next = pages.next();
      const reason = new Error('enough');
      controller.abort(reason);
      await expect(next).rejects.toBe(reason);
      expect(await pages.next()).toMatchObject({ done: true });
    });

    it('gets the changes from the subscription, whose event ids are cursors', async () => {
      const { store } = suite;
      const after = await endOf(store);
      const [plant = { id: 0n, name: '' }] = newPlants(1);
      await store.create(plant);
      const events = await caller().plantChanges({ after });
      for await (const [id, data] of events as unknown as AsyncIterable<[string, never]>) {
        expect(summaryOf(data)).toEqual([`created ${plant.id}`]);
        expect((await caller().listPlantChanges({ after: id })).changes).toEqual([]);
        break;
      }
    });
  });

  it('ends all waits when it is closed', async () => {
    const { store } = await openForTest(profile);
    const after = await endOf(store);
    const shuttingDown = { kind: 'shuttingDown', code: 50302 };
    const page = store.changes({ after, wait: 20 });
    const followed = expect(store.follow({ after }).next()).rejects.toMatchObject(shuttingDown);
    store.feed.close();
    expect(await page).toEqual({ changes: [], next: after });
    await followed;
    await expect(store.follow({ after }).next()).rejects.toMatchObject(shuttingDown);
    expect(await store.changes({ after })).toEqual({ changes: [], next: after });
  });

  it('forgets old deletions, and rejects the cursors before these deletions', async () => {
    const { store } = await openForTest(profile);
    const { next: empty } = await store.changes({});
    await createAll(
      store,
      [1n, 2n, 3n].map((id) => ({ id, name: 'x' })),
    );
    const { next: before } = await changesAfter(store, empty, 3);
    await store.delete(1n);
    await store.delete(2n);
    const { next: behind } = await changesAfter(store, before, 2);
    const { next: within } = await store.changes({ after: before, limit: 1 });
    expect(await store.feed.forgetDeletions(1)).toBe(0);
    expect(summaryOf(await store.changes({ after: before }))).toEqual(['deleted 1', 'deleted 2']);
    expect(await store.feed.forgetDeletions(0)).toBe(2);
    expect(await store.feed.forgetDeletions(0)).toBe(0);
    for (const after of [before, within]) {
      await expect(store.changes({ after })).rejects.toMatchObject({ code: 41000 });
    }
    await store.create({ id: 4n, name: 'x' });
    expect(summaryOf(await changesAfter(store, behind, 1))).toEqual(['created 4']);
  });
});
