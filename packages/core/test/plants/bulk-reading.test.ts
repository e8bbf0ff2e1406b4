import { beforeAll, describe, expect, it } from 'vitest';
import type { PlantStore } from '../../src/plant-store.ts';
import { embedded, openStore, server } from '../fixtures/databases.ts';

describe.each([embedded, server])('reading plants from $name', ({ provide }) => {
  let store: PlantStore;

  beforeAll(async () => {
    const opened = await openStore(provide);
    store = opened.store;
    return opened.close;
  });

  it('selects plants by tag, by id and by time, up to a limit', async () => {
    const plants = [1n, 2n, 3n, 4n].map((id) => ({
      id,
      name: 'x',
      tag: id % 2n === 0n ? 'even' : 'odd',
    }));
    await store.load(plants);
    const { createdAt: since } = (await store.get(1n)) ?? {};
    const idsOf = async (query: Parameters<PlantStore['read']>[0]) =>
      (await Array.fromAsync(store.read(query))).flat().map(({ id }) => id);

    expect(await idsOf({ tag: 'even' })).toEqual([2n, 4n]);
    expect(await idsOf({ after: 2n })).toEqual([3n, 4n]);
    expect(await idsOf({ after: 0n, limit: 3 })).toEqual([1n, 2n, 3n]);
    expect(await idsOf({ since })).toEqual([1n, 2n, 3n, 4n]);
    expect(await idsOf({ since: new Date(Date.now() + 60_000) })).toEqual([]);
  });

  it('ends a page early when the plants are long', async () => {
    const name = 'x'.repeat(500_000);
    await store.load([11n, 12n, 13n, 14n, 15n].map((id) => ({ id, name })));
    const pages = await Array.fromAsync(store.read({ after: 10n }));
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
  });
});
