import { expect, it } from 'vitest';
import { deadlineIn } from '../../src/database/deadline.ts';
import { Turns } from '../../src/database/turns.ts';

it('rejects a search as overloaded when lists are completed while it waits', async () => {
  const lists = new Turns(1, 10);
  const searches = new Turns(1, 10, lists);
  const deadline = deadlineIn(60_000);
  await lists.take({ deadline });
  const first = searches.take({ deadline });
  const second = searches.take({ deadline: deadlineIn(100) });
  lists.complete();
  await expect(second).rejects.toMatchObject({ kind: 'overloaded' });
  lists.give();
  await first;
});
