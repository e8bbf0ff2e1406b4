import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PlantStore } from '../../src/plant-store.ts';
import { embedded, openStore, removePlants, server } from '../fixtures/databases.ts';

describe.each([server, embedded])('on $name', ({ provide }) => {
  let store: PlantStore;

  beforeAll(async () => {
    const opened = await openStore(provide);
    store = opened.store;
    return opened.close;
  });
  beforeEach(() => removePlants(store));
  const end = async () => (await store.changes({})).next;

  it('lists the creates and deletes behind a cursor in their order', async () => {
    await store.create({ id: 1n, name: 'before' });
    const after = await end();
    await store.create({ id: 3n, name: 'Monstera 🌱', tag: 'Araceae' });
    await store.create({ id: 2n, name: 'Pothos' });
    await store.delete(1n);
    const { changes, next } = await store.changes({ after });
    expect(changes).toEqual([
      {
        type: 'created',
        plant: { id: 3n, name: 'Monstera 🌱', tag: 'Araceae', createdAt: expect.any(Date) },
      },
      { type: 'created', plant: { id: 2n, name: 'Pothos', createdAt: expect.any(Date) } },
      { type: 'deleted', plant: { id: 1n, name: 'before', createdAt: expect.any(Date) } },
    ]);
    expect(await store.changes({ after: next })).toEqual({ changes: [], next: expect.any(String) });
  });

  it('waits for a change', async () => {
    const after = await end();
    const waiting = store.changes({ after, wait: 20 });
    await store.create({ id: 1n, name: 'Monstera' });
    expect((await waiting).changes).toHaveLength(1);
  });

  it('yields pages to a follower', async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const { changes } of store.follow({ signal: controller.signal })) {
        for (const { type, plant } of changes) seen.push(`${type} ${plant.id}`);
        if (seen.length === 0) void write();
        if (seen.includes('deleted 1')) controller.abort(new Error('done'));
      }
    })();
    async function write() {
      await store.create({ id: 1n, name: 'Monstera' });
      await store.create({ id: 2n, name: 'Pothos' });
      await store.delete(1n);
    }
    await expect(following).rejects.toThrow('done');
    expect(seen.at(-1)).toBe('deleted 1');
    expect(seen).toContain('created 2');
  });
});
