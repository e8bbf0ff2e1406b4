import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { deadlineIn } from '../../src/database/deadline.ts';
import { Call } from '../../src/database/pool/call.ts';
import { type CreateOutcome, writeBatch } from '../../src/group-commit/creates.ts';
import { openDatabase } from '../../src/open-database.ts';
import { outcomeUnknown } from '../../src/plants/create-errors.ts';
import { createPlantStatements } from '../../src/plants/statements.ts';
import { closeAtEnd, embedded } from '../fixtures/databases.ts';

/** Opens a database with a SQL function, `wait_for_test`, that waits until the test calls `release`. */
async function openWaiting() {
  const { options, remove } = await embedded.provide();
  onTestFinished(remove);
  const database = closeAtEnd(await openDatabase(options));
  await database.write(
    `create function wait_for_test() returns void language plpgsql as $$ begin
       while pg_stat_file('released', true) is null loop perform pg_sleep(0.01); end loop; end $$`,
    [],
    { share: 'bulk' },
  );
  const released = join(options.dataDirectory, 'postgres', 'released');
  return { database, release: () => writeFile(released, '') };
}

it('does not run a write that reaches the database after the deadline of the write', async () => {
  const { database, release } = await openWaiting();
  const statements = createPlantStatements(database);
  const inTime = () => deadlineIn(60_000);
  await statements.insert([{ id: 1n, name: 'stays' }], inTime());

  const busy = database.read('select wait_for_test()', [], { share: 'bulk' });
  const late = await Promise.allSettled([
    statements.delete(1n, { deadline: deadlineIn(200) }),
    statements.insert([{ id: 2n, name: 'is late' }], deadlineIn(200)),
  ]);
  for (const write of late) {
    expect(write).toMatchObject({
      reason: { reason: expect.stringMatching('no response within') },
    });
  }
  await release();
  await busy;
  const found = await statements.find([1n, 2n], inTime());
  expect([...found.values()]).toMatchObject([{ id: 1n, name: 'stays' }]);
});

it('writes in a test that sets the time to the past', async () => {
  const { database } = await openWaiting();
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2020, 0) });
  const { insert } = createPlantStatements(database);
  expect(await insert([{ id: 3n, name: 'in time' }], deadlineIn(60_000))).toEqual(new Set([3n]));
});

it('returns the outcome of a create even when another create in the same statement is already late', async () => {
  const { database, release } = await openWaiting();
  const { insert } = createPlantStatements(database);
  for (const text of [
    `create function slow() returns trigger language plpgsql as $$
       begin perform wait_for_test(); return new; end $$`,
    'create trigger slow after insert on plants for each statement execute function slow()',
  ]) {
    await database.write(text, [], { share: 'bulk' });
  }
  const create = (id: bigint, deadline: number) =>
    new Call<{ id: bigint; name: string }, CreateOutcome>({ id, name: 'x' }, { deadline }, (call) =>
      call.reject(outcomeUnknown()),
    );
  const [late, waiting] = [create(1n, deadlineIn(1_000)), create(2n, deadlineIn(60_000))];
  const written = writeBatch(
    { insert, findDurable: async () => new Map() },
    [late, waiting],
    () => {},
  );
  await expect(late.outcome).rejects.toMatchObject({ code: 50300 });
  await vi.waitFor(() => expect(database.pools()[0]?.unsettled).toBe(1));
  expect(waiting.isSettled).toBe(false);
  await release();
  expect(await waiting.outcome).toBe('created');
  await written;
  expect(database.pools()[0]?.unsettled).toBe(0);
});
