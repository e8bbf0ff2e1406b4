import { expect, it, onTestFinished } from 'vitest';
import { lastId } from '../../src/changes/cursor.ts';
import { createChangeReader } from '../../src/changes/read-changes.ts';
import { openDatabase } from '../../src/open-database.ts';
import { connectToNew } from '../fixtures/databases.ts';

it('orders changes by the transaction number, not by the text of the number', async () => {
  const { databaseUrl, sql } = await connectToNew();
  const database = await openDatabase({ databaseUrl }, { requireConnection: true });
  onTestFinished(() => database.close());
  const read = createChangeReader(database);
  const { next } = await read(undefined, 1);
  await sql`insert into plants (id, name, changed_in) values (1, 'b', '100'), (2, 'a', '99')`;
  await sql`insert into plant_deletions (id, name, created_at, changed_in) values (3, 'c', now(), '9')`;
  const { changes } = await read(
    [{ epoch: next[0]?.epoch ?? '', transaction: 1n, id: lastId }],
    10,
  );
  expect(changes.map((change) => JSON.parse(change).plant.id)).toEqual([3, 2, 1]);
});
