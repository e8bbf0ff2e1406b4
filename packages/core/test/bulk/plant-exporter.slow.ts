import { beforeEach, describe, expect, it } from 'vitest';
import type { ExportQuery } from '../../src/bulk/plant-exporter.ts';
import type { PlantStore } from '../../src/plant-store.ts';
import { createStore, embedded, openStore, server } from '../fixtures/databases.ts';

/** With this number of plants, an export does not fit into the buffers of a connection and a stream. */
const count = 60_000;
const name = 'x'.repeat(200);

describe.each([embedded, server])('exporting plants from $name', ({ provide }) => {
  let store: PlantStore;

  beforeEach(async () => {
    store = await openStore(provide);
  });

  async function exportIds(query: ExportQuery): Promise<string[]> {
    const { rows } = await store.export({ ...query, columns: ['id'] });
    return textOf(await Array.fromAsync(rows));
  }

  it('exports exactly the plants that exist when the export begins, even while clients create and delete plants', async () => {
    for (let first = 0; first < count; first += 10_000) await store.load(plantsFrom(first, 10_000));
    const { rows } = await store.export({ columns: ['id', 'name'], format: 'text' });
    const blocks = [(await rows.next()).value ?? new Uint8Array()];
    // Creates and deletes do not wait for the reader of the export.
    await store.create({ id: -1n, name: 'new' });
    await store.create({ id: BigInt(count), name: 'new' });
    await store.delete(BigInt(count - 1));
    await store.create({ id: BigInt(count - 1), name: 'another' });
    for await (const block of rows) blocks.push(block);
    const lines = textOf(blocks);
    expect(lines.length).toBe(count);
    expect(lines.every((line, id) => line === `${id}\t${name}`)).toBe(true);
    const ids = ['-1', ...Array.from({ length: count + 1 }, (_, id) => String(id))];
    for (const isPaged of [false, true]) expect(await exportIds({ isPaged })).toEqual(ids);
  });

  it('exports the plants with a tag or since a creation time, with one statement and with a statement for each page', async () => {
    await store.load([
      { id: 1n, name: 'a', tag: "it's", createdAt: '2026-01-01T00:00:00Z' },
      { id: 2n, name: 'b', tag: "it's", createdAt: '2026-01-02T00:00:00.000001Z' },
      { id: 3n, name: 'c', createdAt: new Date('2026-01-03') },
    ]);
    const since = new Date('2026-01-02');
    for (const isPaged of [false, true]) {
      expect(await exportIds({ isPaged })).toEqual(['1', '2', '3']);
      expect(await exportIds({ isPaged, tag: "it's" })).toEqual(['1', '2']);
      expect(await exportIds({ isPaged, since })).toEqual(['2', '3']);
      expect(await exportIds({ isPaged, since, tag: "it's" })).toEqual(['2']);
      expect(await exportIds({ isPaged, tag: 'none' })).toEqual([]);
    }
  });

  it('ends the export when the reader stops early or never reads', async () => {
    await store.load(plantsFrom(0, 10_000));
    for await (const block of (await store.export()).rows) {
      expect(block.length).toBeGreaterThan(0);
      break;
    }
    await (await store.export()).close();
    expect((await exportIds({})).length).toBe(10_000);
  });

  it('throws an error after the export is closed between the rows', async () => {
    for (let first = 0; first < count; first += 10_000) await store.load(plantsFrom(first, 10_000));
    const { rows, close } = await store.export();
    await rows.next();
    await close();
    await expect(Array.fromAsync(rows)).rejects.toMatchObject({ code: 50300 });
  });

  it('rejects an export after the store is closed', async () => {
    await store.close();
    await expect(store.export()).rejects.toMatchObject({ code: 50300 });
  });
});

describe('an export from a Postgres that fails', () => {
  it('throws an error that arrives with the first bytes', async () => {
    const { store, sql } = await createStore();
    await store.load(plantsFrom(0, 1));
    await sql`alter table plants rename to stored`;
    await sql`
      create view plants as
      select id, name, tag, created_at + interval '1 s' / (id - id) as created_at from stored`;
    const { rows, close } = await store.export();
    await expect(Array.fromAsync(rows)).rejects.toMatchObject({ code: 50300 });
    await close();
  });
});

function plantsFrom(first: number, count: number) {
  return Array.from({ length: count }, (_, i) => ({ id: BigInt(first + i), name }));
}

function textOf(blocks: Uint8Array[]): string[] {
  return Buffer.concat(blocks).toString().split('\n').slice(0, -1);
}
