import { expect, it, onTestFinished, vi } from 'vitest';
import { Call } from '../../src/database/call.ts';
import { deadlineIn } from '../../src/database/deadline.ts';
import { type CreateOutcome, writeBatch } from '../../src/group-commit/creates.ts';
import { openDatabase } from '../../src/open-database.ts';
import { outcomeUnknown } from '../../src/plants/create-errors.ts';
import { createPlantStatements } from '../../src/plants/statements.ts';
import { embedded } from '../fixtures/databases.ts';

it('changes nothing when the thread of the database reads a write after the deadline', async () => {
  const { options, remove } = await embedded.provide();
  onTestFinished(remove);
  const database = await openDatabase(options);
  onTestFinished(() => database.close());
  const statements = createPlantStatements(database);
  const inTime = () => deadlineIn(60_000);
  await statements.insert([{ id: 1n, name: 'stays' }], inTime());

  let isBusy = true;
  const busy = database.read('select pg_sleep(2)', [], { share: 'bulk' }).finally(() => {
    isBusy = false;
  });
  const late = await Promise.allSettled([
    statements.delete(1n, { deadline: deadlineIn(20) }),
    statements.insert([{ id: 2n, name: 'is late' }], deadlineIn(20)),
  ]);
  for (const write of late) {
    expect(write).toMatchObject({
      reason: { reason: expect.stringMatching('no response within') },
    });
  }
  expect(isBusy).toBe(true);
  await busy;
  const found = await statements.find([1n, 2n], inTime());
  expect([...found.values()]).toMatchObject([{ id: 1n, name: 'stays' }]);
});

it('counts a slow statement after the deadline of one create, and settles the other create', async () => {
  const { options, remove } = await embedded.provide();
  onTestFinished(remove);
  const database = await openDatabase(options);
  onTestFinished(() => database.close());
  const { insert } = createPlantStatements(database);
  const slow = { share: 'bulk' } as const;
  await database.write(
    `create function slow() returns trigger language plpgsql as $$
       begin perform pg_sleep(2); return new; end $$`,
    [],
    slow,
  );
  await database.write(
    'create trigger slow after insert on plants for each statement execute function slow()',
    [],
    slow,
  );
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
  await vi.waitFor(() => expect(database.pools()[0]?.unsettled).toBe(1), { timeout: 10_000 });
  expect(waiting.isSettled).toBe(false);
  expect(await waiting.outcome).toBe('created');
  await written;
  expect(database.pools()[0]?.unsettled).toBe(0);
});
