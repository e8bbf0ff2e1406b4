import { expect, it } from 'vitest';
import { createStore } from '../fixtures/databases.ts';

it('lists each remaining plant exactly once while other plants are created and deleted', async () => {
  const { store, sql } = await createStore();
  // During the lists, a third of the plants stays, a third is deleted, and a third is created.
  const count = 1_000_000;
  const minId = -(2n ** 63n);
  await sql`
    insert into plants (id, name)
    select ${String(minId)}::bigint + i, 'x' from generate_series(0, ${count}) i where i % 3 < 2`;

  let isWalking = true;
  let changes = 0;
  const change = async (start: number) => {
    for (let i = start; isWalking && i < count; i += 3 * 7) {
      await store.create({ id: minId + BigInt(3 * i + 2), name: 'new' });
      await store.delete(minId + BigInt(3 * i + 1));
      changes++;
    }
  };
  const changing = Promise.all(Array.from({ length: 10 }, (_, i) => change(i * 2000)));

  const seen: bigint[] = [];
  let after: bigint | undefined;
  do {
    const page = await store.list({ limit: 1000, ...(after !== undefined && { after }) });
    seen.push(...page.plants.map(({ id }) => id - minId));
    after = page.next;
  } while (after !== undefined);
  isWalking = false;
  await changing;

  expect(changes).toBeGreaterThan(100);
  expect(new Set(seen).size).toBe(seen.length);
  const stayed = seen.filter((i) => i % 3n === 0n);
  expect(stayed).toHaveLength(Math.floor(count / 3) + 1);
});
