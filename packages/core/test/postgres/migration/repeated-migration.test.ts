import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { RepeatedMigration } from '../../../src/postgres/migration/repeated-migration.ts';

/** Makes a migrator, and collects its attempts to migrate. */
function createMigrator() {
  const attempts: PromiseWithResolvers<void>[] = [];
  const migrator = new RepeatedMigration(() => {
    const attempt = Promise.withResolvers<void>();
    attempts.push(attempt);
    return attempt.promise;
  });
  onTestFinished(() => migrator.close());
  /** Waits until exactly `count` attempts have begun. */
  const begun = async (count: number) => {
    await vi.waitFor(() => expect(attempts).toHaveLength(count));
    return attempts[count - 1];
  };
  return { migrator, attempts, begun };
}

const missingTable = Object.assign(new Error('no such table'), { code: '42P01' });
const denied = new Error('permission denied');

it('never runs two migrations at the same time, even when each migration fails', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { migrator, attempts, begun } = createMigrator();
  (await begun(1))?.resolve();
  await migrator.retry();
  for (let count = 2; count <= 4; count++) {
    for (let i = 0; i < 10; i++) migrator.notice(missingTable);
    void migrator.retry();
    const attempt = await begun(count);
    vi.advanceTimersByTime(1_001); // After a second, `notice` may start another migration.
    for (let i = 0; i < 10; i++) migrator.notice(missingTable);
    expect(attempts).toHaveLength(count);
    attempt?.reject(denied);
    await expect(migrator.done).rejects.toBe(denied);
  }
});

it('starts at most one migration per second when a table is missing', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { migrator, attempts } = createMigrator();
  const succeed = async () => {
    attempts.at(-1)?.resolve();
    await setImmediate();
  };
  await succeed();
  migrator.notice(missingTable);
  await succeed();
  vi.advanceTimersByTime(1_000);
  migrator.notice(missingTable);
  expect(attempts).toHaveLength(2);
  vi.advanceTimersByTime(1);
  migrator.notice(missingTable);
  expect(attempts).toHaveLength(3);
  await succeed();
});
