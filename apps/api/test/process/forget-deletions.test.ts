import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { serve } from '../fixtures/program.ts';

it('at the start, forgets all deletions that are older than PLANT_STORE_FEED_DAYS', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  await (await openPlantStore({ databaseUrl })).close();
  const sql = postgres(databaseUrl);
  onTestFinished(() => sql.end());
  await sql`
    insert into plant_deletions (id, name, created_at, deleted_at)
    select days, 'x', now(), now() - make_interval(days => days) from generate_series(0, 4) as days`;
  await serve({ DATABASE_URL: databaseUrl, PLANT_STORE_FEED_DAYS: '2' });
  await vi.waitFor(async () =>
    expect(await sql`select id from plant_deletions order by id`).toEqual([
      { id: '0' },
      { id: '1' },
    ]),
  );
});
