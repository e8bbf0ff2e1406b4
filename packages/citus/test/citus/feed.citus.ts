import postgres from 'postgres';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { switchFeed } from '../../../core/src/changes/switch-feed.ts';
import { inspectDatabase } from '../../../core/src/inspection/inspect-database.ts';
import { openPlantStore } from '../../../core/src/plant-store.ts';
import { createOldTables } from '../../../core/test/fixtures/old-tables.ts';
import { citus } from '../../src/index.ts';
import { distributePlants } from '../../src/operator.ts';
import {
  createDistributedDatabase,
  createEmptyDatabase,
} from '../../test/fixtures/distributed-database.ts';

const noFeed = { code: 50100, message: expect.stringContaining('on a Citus cluster') };

describe('the feed on Citus', () => {
  let urls: { coordinator: string; worker: string };

  beforeAll(async () => {
    const { url, workerUrls } = await createDistributedDatabase();
    urls = { coordinator: url, worker: workerUrls[0] ?? '' };
  });

  it.each(['coordinator', 'worker'] as const)(
    'has no feed through the %s, but deletes plants',
    async (node) => {
      const databaseUrl = urls[node];
      const store = await openPlantStore(
        { databaseUrl, cluster: citus },
        { requireConnection: true },
      );
      onTestFinished(() => store.close());
      const ids = Array.from({ length: 20 }, (_, i) => BigInt(i));
      await store.load(ids.map((id) => ({ id, name: 'Monstera' })));
      expect(await store.delete(0n)).toBe(true);
      expect(await store.delete(0n)).toBe(false);
      expect(await store.deleteMany(ids)).toBe(19);
      await store.create({ id: 1n, name: 'Hoya' });
      expect(await store.delete(1n)).toBe(true);
      await expect(store.changes({})).rejects.toMatchObject(noFeed);
      await expect(store.follow().next()).rejects.toMatchObject(noFeed);
      expect(await store.forgetDeletions(0)).toBe(0);
      expect((await inspectDatabase({ databaseUrl }))?.tableFaults).toEqual([]);
      await expect(switchFeed({ databaseUrl }, 'off')).rejects.toMatchObject(noFeed);
      await expect(switchFeed({ databaseUrl }, 'on')).rejects.toMatchObject(noFeed);
    },
  );
});

it('goes on with the extension Citus alone, and ends when the plants are distributed', async () => {
  const { url: databaseUrl } = await createEmptyDatabase();
  const store = await openPlantStore({ databaseUrl, cluster: citus }, { requireConnection: true });
  onTestFinished(() => store.close());
  const { next: after } = await store.changes({});
  await store.create({ id: 1n, name: 'Hoya' });
  await vi.waitFor(async () => {
    const { changes } = await store.changes({ after });
    expect(changes).toMatchObject([{ type: 'created', plant: { id: 1n } }]);
  });
  expect((await inspectDatabase({ databaseUrl }))?.feed).toMatchObject({ isOn: true });
  const { steps } = await distributePlants({ databaseUrl, shards: 4, confirm: async () => true });
  expect(steps[0]?.description).toMatch(/, and end the feed of changes$/);
  await expect(store.changes({ after })).rejects.toMatchObject(noFeed);
  expect((await inspectDatabase({ databaseUrl }))?.feed).toBeUndefined();
});

it('adds the column of the feed to plants that are distributed already', async () => {
  const { url: databaseUrl } = await createEmptyDatabase();
  await createOldTables(databaseUrl, 3);
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  onTestFinished(() => sql.end());
  await sql`select create_distributed_table('plants', 'id', shard_count => 4)`;
  await sql`insert into plants (id, name) select id, 'old' from generate_series(1, 100) as id`;
  const store = await openPlantStore({ databaseUrl, cluster: citus }, { requireConnection: true });
  onTestFinished(() => store.close());
  expect(await sql`select from plants where changed_in is not null`).toEqual([]);
  await store.create({ id: 101n, name: 'new' });
  await store.createMany([102n, 103n, 104n].map((id) => ({ id, name: 'new' })));
  await distributePlants({ databaseUrl, shards: 4, confirm: async () => true });
  await store.create({ id: 105n, name: 'new' });
  expect(await store.delete(1n)).toBe(true);
  expect(await store.countUpTo(1_000)).toBe(104);
});
