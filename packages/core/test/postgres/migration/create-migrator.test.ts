import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createMigrator } from '../../../src/postgres/migration/create-migrator.ts';

it('starts at most one migration per second when a table is missing, and never two at the same time', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const first = Promise.withResolvers<void>();
  const migrate = vi.fn(() => first.promise);
  const { notice } = createMigrator(migrate);
  const missing = Object.assign(new Error('no such table'), { code: '42P01' });
  const countAfter = async (pause: number) => {
    vi.advanceTimersByTime(pause);
    for (let i = 0; i < 3; i++) notice(missing);
    await setImmediate();
    return migrate.mock.calls.length;
  };
  expect([await countAfter(0), await countAfter(2_000)]).toEqual([1, 1]);
  first.reject(new Error('permission denied'));
  await setImmediate();
  expect([await countAfter(0), await countAfter(1_000), await countAfter(1)]).toEqual([2, 2, 3]);
});
