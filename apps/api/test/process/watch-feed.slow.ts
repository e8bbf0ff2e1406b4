import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, inject, it, onTestFinished } from 'vitest';
import { serve } from '../fixtures/program.ts';

async function startInstance() {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  await (await openPlantStore({ databaseUrl })).close();
  const sql = postgres(databaseUrl);
  onTestFinished(() => sql.end());
  const { metrics } = await serve({ DATABASE_URL: databaseUrl, PLANT_STORE_METRICS_PORT: '0' });
  return { sql, metrics };
}

async function noticesRestoredDump() {
  const { sql } = await startInstance();
  const epoch = () => sql`select epoch from plant_feed`;
  const before = await epoch();
  await sql`update plant_feed set system_identifier = 1`;
  const isOwn = () => sql`
    select system_identifier = (select system_identifier from pg_control_system()) as is_own from plant_feed`;
  await expect.poll(isOwn).toEqual([{ is_own: true }]);
  expect(await epoch()).not.toEqual(before);
}

async function measuresHiddenChanges() {
  const { sql, metrics } = await startInstance();
  const heldBack = async () => (await metrics()).value('plant_store_feed_lag_seconds');
  await sql.begin(async (transaction) => {
    await transaction`insert into plants (id, name) values (1, 'open')`;
    await sql`insert into plants (id, name) values (2, 'hidden')`;
    await expect.poll(heldBack).toBeGreaterThan(0);
  });
  await expect.poll(heldBack).toBe(0);
}

// Each instance reads the feed only every 15 seconds. One test waits for both instances, to save time.
it('while nobody reads the feed, notices a restored dump of another server, and measures the delay of the feed', async () => {
  await Promise.all([noticesRestoredDump(), measuresHiddenChanges()]);
});
