import { expect, it, onTestFinished } from 'vitest';
import { deadlineIn } from '../../../src/database/deadline.ts';
import { openDatabase } from '../../../src/database/open-database.ts';
import { createPlantStatements } from '../../../src/plants/statements.ts';
import { embedded } from '../../fixtures/databases.ts';

it('a write that the thread reads after the deadline changes nothing', async () => {
  const { options, remove } = await embedded.provide();
  onTestFinished(remove);
  const database = await openDatabase(options);
  onTestFinished(() => database.close());
  const statements = createPlantStatements(database.run);
  const inTime = () => deadlineIn(60_000);
  await statements.insert([{ id: 1n, name: 'stays' }], inTime());

  let isBusy = true;
  const busy = database.bulk
    .run('select count(*) from generate_series(1, 3000000)', [], {
      share: 'bulk',
      deadline: inTime(),
    })
    .finally(() => {
      isBusy = false;
    });
  const late = await Promise.allSettled([
    statements.delete(1n, deadlineIn(20)),
    statements.insert([{ id: 2n, name: 'is late' }], deadlineIn(20)),
  ]);
  for (const write of late) {
    expect(write).toMatchObject({
      reason: { message: expect.stringMatching('no response within') },
    });
  }
  expect(isBusy).toBe(true);
  await busy;
  const found = await statements.find([1n, 2n], inTime());
  expect([...found.values()]).toMatchObject([{ id: 1n, name: 'stays' }]);
});
