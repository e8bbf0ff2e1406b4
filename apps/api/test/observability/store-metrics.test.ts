import { openPlantStore } from '@plant-store/core';
import { createDatabase, startPostgres } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createMetrics } from '../../src/observability/metrics.ts';
import { sumMetrics } from '../../src/observability/sum-metrics.ts';
import { readPrometheusText } from '../fixtures/prometheus-text.ts';

it('shows within 15 s whether the database is down, even when no request arrives', async () => {
  const postgres = await startPostgres({ fsync: 'off' });
  onTestFinished(postgres.stop);
  const store = await openPlantStore({ databaseUrl: await createDatabase(postgres.url) });
  onTestFinished(store.close);
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());

  const metrics = createMetrics(store);
  const isUp = async () => {
    const text = await sumMetrics([await metrics.values()]);
    return readPrometheusText(text).samples.get('plant_store_database_up');
  };
  await expect.poll(isUp).toBe(1);
  await postgres.halt();
  vi.advanceTimersByTime(15_000);
  await expect.poll(isUp, { timeout: 60_000 }).toBe(0);
  await postgres.start();
  await expect.poll(() => vi.advanceTimersByTime(15_000) && isUp(), { timeout: 60_000 }).toBe(1);
});
