import { describe, expect, it } from 'vitest';
import { deadlineIn, timeText } from '../../src/database/deadline.ts';
import type { Run } from '../../src/database/verbs.ts';
import { createPlantStatements } from '../../src/plants/statements.ts';
import { embedded, server, shareDatabase } from '../fixtures/databases.ts';

describe.each([embedded, server])('statements about plants on $name', ({ provide }) => {
  const database = shareDatabase(provide);
  const read: Run = (...statement) => database.read(...statement);
  const write: Run = (...statement) => database.write(...statement);
  const statements = createPlantStatements({ read, write });
  /** Sends each statement with a deadline that has passed a millisecond ago. */
  const late = createPlantStatements({
    read,
    write: (text, values, options) =>
      write(
        text,
        typeof values === 'function' ? () => values(timeText(Date.now() - 1)) : values,
        options,
      ),
  });

  const deadline = () => deadlineIn(60_000);
  const find = async (ids: bigint[]) => [...(await statements.find(ids, deadline())).values()];

  it('inserts nothing when the deadline has passed by the clock of the database', async () => {
    await statements.insert([{ id: 10n, name: 'taken' }], deadline());
    const batch = [10n, 11n, 12n].map((id) => ({ id, name: 'late' }));
    const error = await late.insert(batch, deadline()).catch((error: unknown) => error);
    expect(error).toMatchObject({ databaseCode: 'CLOCKS_MOVED' });
    expect(await find([11n, 12n])).toEqual([]);
    expect(await find([10n])).toMatchObject([{ name: 'taken' }]);
  });

  it('deletes nothing when the deadline has passed by the clock of the database', async () => {
    await statements.insert([{ id: 30n, name: 'Hoya' }], deadline());
    const error = await late.delete(30n, { deadline: deadline() }).catch((error: unknown) => error);
    expect(error).toMatchObject({ databaseCode: 'CLOCKS_MOVED' });
    expect(await find([30n])).toMatchObject([{ name: 'Hoya' }]);
  });

  it('inserts and deletes plants when there is no deadline', async () => {
    const forEver = Number.POSITIVE_INFINITY;
    const plant = { id: 40n, name: 'Hoya' };
    expect(await statements.insert([plant], forEver)).toEqual(new Set([40n]));
    expect(await statements.delete(40n, { deadline: forEver })).toBe(true);
  });
});
