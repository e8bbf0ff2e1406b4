import type { PlantChanges } from '@plant-store/schemas';
import { expect, it, onTestFinished, vi } from 'vitest';
import { formatCursor, parseCursor } from '../../src/changes/cursor.ts';
import { cursorsOf } from '../../src/changes/kept-pages.ts';
import { idsOf } from '../fixtures/changes.ts';
import { openFeed } from '../fixtures/open-feed.ts';

it('sends one statement for all waiting followers, and returns the same read-only page to each follower', async () => {
  const { feed, end, insert, sent, gate, follow, isWaitedFor } = await openFeed();
  const after = await end();
  const followers = [1, 2, 3].map(() => follow({ after }));
  const callers = [1, 2].map(() => feed.changes({ after, wait: 20 }));
  await isWaitedFor(5);
  await gate.close();
  await insert(1, 2);
  const before = sent.count;
  await gate.pass();
  for (const caller of callers) expect(idsOf(await caller)).toEqual([1n, 2n]);
  await vi.waitFor(() => {
    for (const { pages } of followers) expect(pages).toEqual([[1n, 2n]]);
  });
  await isWaitedFor(3); // Followers wait for the read loop of the feed.
  expect(sent.count).toBe(before + 1);
  const [first, second] = followers;
  expect(first?.outputs[0]).toBe(second?.outputs[0]);
  // The cast is safe, because a follower yields pages of changes.
  const page = first?.outputs[0] as PlantChanges;
  expect(() => page.changes.shift()).toThrow(TypeError);
});

it('returns an empty page at the end of a wait, even when the read of another caller has failed', async () => {
  const { feed, end, gate, isWaitedFor } = await openFeed();
  const after = await end();
  const timeout = new AbortController();
  const spy = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(timeout.signal);
  onTestFinished(() => spy.mockRestore());
  const waiting = feed.changes({ after, wait: 1 });
  await isWaitedFor(1);
  await gate.close();
  await expect(feed.changes({ after }, { caller: { isGone: true } })).rejects.toThrow();
  timeout.abort();
  expect(await waiting).toEqual({ changes: [], next: after });
  gate.open();
});

it('splits a page from memory by `limit`, and sends no statement', async () => {
  const { feed, end, insert, sent, gate, follow, isWaitedFor } = await openFeed();
  const after = await end();
  const { pages } = follow({ after });
  await isWaitedFor(1);
  await insert(5, 3, 4, 1, 2);
  await vi.waitFor(() => expect(pages).toEqual([[1n, 2n, 3n, 4n, 5n]]));
  await isWaitedFor(1);
  await gate.close();
  const before = sent.count;
  const first = await feed.changes({ after, limit: 2, wait: 20 });
  const second = await feed.changes({ after: first.next, limit: 2, wait: 20 });
  const third = await feed.changes({ after: second.next, limit: 2, wait: 20 });
  expect([first, second, third].map(idsOf)).toEqual([[1n, 2n], [3n, 4n], [5n]]);
  expect(sent.count).toBe(before);
  gate.open();
  expect(third.next).toBe(await end());
});

it('returns the changes of many small pages at once, when a follower is slow', async () => {
  const { feed, end, insert, follow, isWaitedFor } = await openFeed();
  const after = await end();
  const { pages } = follow({ after });
  await isWaitedFor(1);
  for (const id of [1, 2, 3, 4, 5]) {
    await insert(id);
    await vi.waitFor(() => expect(pages).toHaveLength(id));
    await isWaitedFor(1);
  }
  const slow = await feed.changes({ after, wait: 20 });
  expect(idsOf(slow)).toEqual([1n, 2n, 3n, 4n]);
  const last = await feed.changes({ after: slow.next, wait: 20 });
  expect(idsOf(last)).toEqual([5n]);
  expect(last.next).toBe(await end());
  const inside = await feed.changes({ after, limit: 2, wait: 20 });
  expect(idsOf(await feed.changes({ after: inside.next, wait: 20 }))).toEqual([3n, 4n]);
});

it('lets a follower continue after each change, even in the middle of a transaction', async () => {
  const { feed, end, insert, isWaitedFor } = await openFeed();
  const pageAfter = async (after: string) => (await feed.follow({ after }).next()).value;
  const waiting = pageAfter(await end());
  await isWaitedFor(1);
  await insert(1, 2, 3, 4);
  const page = await waiting;
  expect(idsOf(page)).toEqual([1n, 2n, 3n, 4n]);
  await insert(5);
  for (const [i, cursor] of cursorsOf(page).entries()) {
    expect(idsOf(await pageAfter(cursor))[0]).toBe(BigInt(i + 2));
  }
});

it('queries the database for changes that are no longer in memory', async () => {
  const { feed, end, sql, follow, isWaitedFor } = await openFeed();
  const after = await end();
  const { pages } = follow({ after });
  await isWaitedFor(1);
  for (const id of [1, 2, 3]) {
    await sql`insert into plants (id, name) values (${id}, repeat('x', 1000000))`;
    await vi.waitFor(() => expect(pages.flat()).toHaveLength(id));
  }
  const late = [];
  for (let cursor = after; ; ) {
    const page = await feed.changes({ after: cursor, wait: 1 });
    if (page.changes.length === 0) break;
    late.push(...idsOf(page));
    cursor = page.next;
  }
  expect(late).toEqual([1n, 2n, 3n]);
});

it('gives a late follower all old changes first, and then the new changes', async () => {
  const { end, sql, insert, follow } = await openFeed();
  const after = await end();
  await sql`insert into plants (id, name) select id, 'x' from generate_series(1, 2500) as id`;
  const { pages } = follow({ after });
  await vi.waitFor(() => expect(pages.flat()).toHaveLength(2_500));
  await insert(2_501);
  await vi.waitFor(() => expect(pages.flat()).toHaveLength(2_501));
  expect(pages.flat()).toEqual(Array.from({ length: 2_501 }, (_, i) => BigInt(i + 1)));
});

it('gives changes to followers again after the database was down', async () => {
  const { end, insert, proxy, follow, isWaitedFor } = await openFeed();
  const { pages } = follow({ after: await end() });
  await isWaitedFor(1);
  proxy.fault = 'refuse';
  const other = follow({});
  await insert(1);
  proxy.fault = 'none';
  await vi.waitFor(() => expect(pages).toEqual([[1n]]));
  await vi.waitFor(() => expect(other.pages).toHaveLength(1));
});

it('rejects waiting followers when the feed gets a new epoch, and accepts new followers', async () => {
  const { feed, end, insert, sql, follow, isWaitedFor } = await openFeed();
  const after = await end();
  const { done } = follow({ after });
  const waiting = feed.changes({ after, wait: 20 });
  waiting.catch(() => {});
  await isWaitedFor(2);
  await sql`update plant_feed set epoch = gen_random_uuid()`;
  await expect(done).rejects.toMatchObject({ code: 41000 });
  await expect(waiting).rejects.toMatchObject({ code: 41000 });
  const { pages } = follow({});
  await isWaitedFor(1);
  await insert(1);
  await vi.waitFor(() => expect(pages).toEqual([[], [1n]]));
});

it('rejects waiting followers when the feed is switched off', async () => {
  const { end, sql, follow, isWaitedFor } = await openFeed();
  const { done } = follow({ after: await end() });
  await isWaitedFor(1);
  await sql`delete from plant_feed`;
  await expect(done).rejects.toMatchObject({ code: 50100 });
});

it('stops reading when nobody waits, and begins again when somebody waits', async () => {
  const { feed, end, insert, sent, follow, isWaitedFor } = await openFeed();
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const controller = new AbortController();
  const first = follow({ after: await end(), signal: controller.signal });
  await isWaitedFor(1);
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(first.done).rejects.toBe(reason);
  vi.advanceTimersByTime(10_000);
  let before = -1;
  await vi.waitFor(
    () => {
      const hasStopped = sent.count === before;
      before = sent.count;
      expect(hasStopped).toBe(true);
    },
    { interval: 1_000 },
  );
  const { pages } = follow({ after: await end() });
  await isWaitedFor(1);
  await insert(1);
  await vi.waitFor(() => expect(pages).toEqual([[1n]]));
  expect(feed.state().heldBackFor).toBe(0);
});

it('ends the wait of a caller that has disconnected', async () => {
  const { feed, end, isWaitedFor } = await openFeed();
  const caller = { isGone: false };
  const after = await end();
  const waiting = feed.changes({ after, wait: 20 }, { caller });
  await isWaitedFor(1);
  caller.isGone = true;
  expect((await waiting).changes).toEqual([]);
  await isWaitedFor(0);
});

it('throws the error of the last read at the end of a wait', async () => {
  const { feed, end, gate, proxy, follow, isWaitedFor } = await openFeed();
  const after = await end();
  const failed = Promise.withResolvers<unknown>();
  follow({ after, onError: failed.resolve });
  await isWaitedFor(1);
  proxy.fault = 'refuse';
  const error = await failed.promise;
  await gate.close(); // While the gate is closed, the next read of the feed cannot end.
  await expect(feed.changes({ after, wait: 1 })).rejects.toBe(error);
  expect(error).toMatchObject({ kind: 'databaseUnavailable' });
  proxy.fault = 'none';
  gate.open();
  await vi.waitFor(async () =>
    expect(await feed.changes({ after, wait: 1 })).toEqual({ changes: [], next: after }),
  );
});

it('ends all waits when the feed closes, and accepts no new waits', async () => {
  const { feed, end, gate, follow, isWaitedFor } = await openFeed();
  const after = await end();
  const waiting = follow({ after });
  await isWaitedFor(1);
  await gate.close();
  const reading = follow({});
  feed.stopWaiting();
  await expect(waiting.done).rejects.toMatchObject({ kind: 'shuttingDown' });
  gate.open();
  await expect(reading.done).rejects.toMatchObject({ kind: 'shuttingDown' });
  await expect(follow({ after }).done).rejects.toMatchObject({ kind: 'shuttingDown' });
  await expect(feed.changes({ after, wait: 20 })).rejects.toMatchObject({ kind: 'shuttingDown' });
  expect(await feed.changes({ after })).toEqual({ changes: [], next: after });
});

it('stops a follower when the feed closes or the signal is aborted, even while the database is unreachable', async () => {
  const { feed, proxy, follow } = await openFeed();
  proxy.fault = 'refuse';
  const controller = new AbortController();
  const followers = [follow({}), follow({ signal: controller.signal })];
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(followers[1]?.done).rejects.toBe(reason);
  feed.stopWaiting();
  await expect(followers[0]?.done).rejects.toMatchObject({ kind: 'shuttingDown' });
});

it('loses no change for a slow reader when another reader gets the change first', async () => {
  const { held, feed, sql, isWaitedFor } = await openFeed();
  const { next: after } = await feed.changes({});
  const slowly = Promise.withResolvers<void>();
  held.after = slowly.promise;
  const slow = feed.changes({ after, wait: 20 });
  delete held.after;
  const fast = feed.changes({ after, wait: 20 });
  await isWaitedFor(1);
  await sql`insert into plants (id, name) values (1, 'Monstera')`;
  expect((await fast).changes).toHaveLength(1);
  slowly.resolve();
  expect((await slow).changes).toHaveLength(1);
});

it('does not end the wait of a caller with a valid cursor when the cursor of another caller expires', async () => {
  const { held, feed, sql, isWaitedFor } = await openFeed();
  const { next: old } = await feed.changes({});
  const expiring = feed.changes({ after: old, wait: 20 });
  expiring.catch(() => {});
  await isWaitedFor(1);
  const hold = Promise.withResolvers<void>();
  held.before = hold.promise; // The next read of the feed waits for this promise.
  await sql`truncate plants`;
  await vi.waitFor(() => expect(held.reads).toBeGreaterThan(0));
  delete held.before;
  const { next: after } = await feed.changes({});
  const good = feed.changes({ after, wait: 20 });
  await isWaitedFor(2);
  hold.resolve();
  await expect(expiring).rejects.toMatchObject({ kind: 'cursorExpired' });
  await sql`insert into plants (id, name) values (1, 'Monstera')`;
  expect((await good).changes).toHaveLength(1);
});

it('shares one read between two followers with different cursors', async () => {
  const { held, feed, sql, isWaitedFor } = await openFeed();
  const { next: after } = await feed.changes({});
  const first = feed.changes({ after, wait: 20 });
  await isWaitedFor(1);
  const hold = Promise.withResolvers<void>();
  held.before = hold.promise; // The next read of the feed waits for this promise.
  await vi.waitFor(() => expect(held.reads).toBeGreaterThan(0));
  delete held.before;
  await sql`insert into plants (id, name) values (1, 'Monstera')`;
  const ahead = feed.follow();
  // A follower without a cursor starts at the end of the feed, after the first plant.
  await ahead.next();
  await sql`insert into plants (id, name) values (2, 'Calathea')`;
  const second = ahead.next();
  await isWaitedFor(2);
  hold.resolve();
  expect((await first).changes).toHaveLength(2);
  expect((await second).value.changes).toMatchObject([{ plant: { id: 2n } }]);
});

it('skips creates while each follower wants only deletes, and returns all changes to a later follower', async () => {
  const { feed, end, insert, follow, isWaitedFor } = await openFeed();
  const after = await end();
  const only = 'deleted';
  const waiting = feed.pageAfter(parseCursor(after), 10, { only });
  await isWaitedFor(1);
  await insert(1, 2);
  const page = await waiting;
  expect(page.changes).toEqual([]);
  expect(formatCursor(page.next)).toBe(await end());
  const next = feed.pageAfter(page.next, 10, { only });
  const { pages } = follow({ after });
  await vi.waitFor(() => expect(pages).toEqual([[1n, 2n]]));
  await isWaitedFor(2); // The new follower wants all changes, so the feed now reads all changes.
  await insert(3);
  await vi.waitFor(() => expect(pages.at(-1)).toEqual([3n]));
  expect((await next).changes).toHaveLength(1);
});
