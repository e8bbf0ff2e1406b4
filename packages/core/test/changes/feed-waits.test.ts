import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest';
import { createPlantFeed, type OpenPlantFeed } from '../../src/changes/plant-feed.ts';
import type { Database } from '../../src/database/database.ts';
import type { Run } from '../../src/database/verbs.ts';
import { openDatabase } from '../../src/open-database.ts';

let database: Database;
let sql: postgres.Sql;

beforeEach(async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  database = await openDatabase({ databaseUrl }, { requireConnection: true });
  sql = postgres(databaseUrl);
});
afterEach(async () => {
  await database.close();
  await sql.end();
});

/** Makes a feed. Each read waits for `held.before`, runs its statement, and waits for `held.after`. */
function holdableFeed() {
  const held: { before?: Promise<void>; after?: Promise<void>; reads: number } = { reads: 0 };
  const read: Run = async (...query) => {
    const { before, after } = held;
    if (before) held.reads++;
    await before;
    const rows = await database.read(...query);
    await after;
    return rows;
  };
  return { held, feed: createPlantFeed({ ...database, read }) };
}

const waiting = (feed: OpenPlantFeed, count: number) =>
  vi.waitFor(() => expect(feed.state().waiting).toBe(count));

it('loses no change that other followers receive during a slow read', async () => {
  const { held, feed } = holdableFeed();
  const { next: after } = await feed.changes({});
  const slowly = Promise.withResolvers<void>();
  held.after = slowly.promise;
  const slow = feed.changes({ after, wait: 20 });
  delete held.after;
  const fast = feed.changes({ after, wait: 20 });
  await waiting(feed, 1);
  await sql`insert into plants (id, name) values (1, 'Monstera')`;
  expect((await fast).changes).toHaveLength(1);
  slowly.resolve();
  expect((await slow).changes).toHaveLength(1);
});

it('keeps the waits of good cursors when an old cursor expires', async () => {
  const { held, feed } = holdableFeed();
  const { next: old } = await feed.changes({});
  const expiring = feed.changes({ after: old, wait: 20 });
  expiring.catch(() => {}); // The test checks this promise below.
  await waiting(feed, 1);
  const hold = Promise.withResolvers<void>();
  held.before = hold.promise; // The next read of the loop waits.
  await sql`truncate plants`;
  await vi.waitFor(() => expect(held.reads).toBeGreaterThan(0));
  delete held.before;
  const { next: after } = await feed.changes({});
  const good = feed.changes({ after, wait: 20 });
  await waiting(feed, 2);
  hold.resolve();
  await expect(expiring).rejects.toMatchObject({ kind: 'cursorExpired' });
  await sql`insert into plants (id, name) values (1, 'Monstera')`;
  expect((await good).changes).toHaveLength(1);
});

it('sends no further read for a follower that begins ahead of the loop', async () => {
  const { held, feed } = holdableFeed();
  const { next: after } = await feed.changes({});
  const first = feed.changes({ after, wait: 20 });
  await waiting(feed, 1);
  const hold = Promise.withResolvers<void>();
  held.before = hold.promise; // The next read of the loop waits.
  await vi.waitFor(() => expect(held.reads).toBeGreaterThan(0));
  delete held.before;
  await sql`insert into plants (id, name) values (1, 'Monstera')`;
  const ahead = feed.follow();
  // The first page starts at the end of the feed, after the first plant.
  await ahead.next();
  await sql`insert into plants (id, name) values (2, 'Calathea')`;
  const second = ahead.next();
  await waiting(feed, 2);
  hold.resolve();
  expect((await first).changes).toHaveLength(2);
  expect((await second).value.changes).toMatchObject([{ plant: { id: 2n } }]);
});
