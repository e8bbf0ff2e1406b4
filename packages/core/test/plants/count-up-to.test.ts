import { createDatabase } from '@plant-store/test-setup';
import { expect, inject, it, vi } from 'vitest';
import { deadlineIn } from '../../src/database/deadline.ts';
import { createCountUpTo } from '../../src/plants/count-up-to.ts';
import { openPostgres } from '../../src/postgres/postgres-database.ts';
import { closeAtEnd } from '../fixtures/databases.ts';

it('counts with a statement of the share `lists`, and passes `deadline` and `caller` to the database', async () => {
  const database = closeAtEnd(await openPostgres(await createDatabase(inject('postgresUrl'))));
  const read = vi.fn(database.read);
  const [deadline, caller] = [deadlineIn(60_000), { isGone: false }];
  expect(await createCountUpTo({ read })(5, { tag: 'x' }, { deadline, caller })).toBe(0);
  expect(read.mock.calls).toEqual([
    [expect.any(String), ['x'], { share: 'lists', deadline, caller }],
  ]);
});
