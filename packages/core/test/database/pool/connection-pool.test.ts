import { setImmediate, setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { lateWrite } from '../../../src/database/database-error.ts';
import { deadlineIn } from '../../../src/database/deadline.ts';
import { createPool, lost, serverError, type TestConnection } from '../../fixtures/test-pool.ts';

const rowsOf = async (result: Promise<{ rows: unknown[] }>) => (await result).rows;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

it.each([
  ['the deadline', 60_000],
  ['a default deadline in five seconds', undefined],
])('converts %s to the time of the database for the values of a statement', async (_, limit) => {
  const { pool, accept } = createPool();
  const expected = deadlineIn(limit ?? 5_000);
  const deadline = limit && expected;
  const result = pool.run('one', (until) => ['x', until], { share: 'creates', deadline });
  const connection = await accept();
  await connection.settle();
  await result;
  expect(connection.values).toEqual([['x', `the time ${expected}`]]);
});

it('runs the next statement when the values of a statement could not be computed', async () => {
  const { pool, run, accept } = createPool({ shares: { creates: 1 } });
  const values = () => {
    throw new RangeError('no time');
  };
  const failed = pool.run('one', values, { share: 'creates', deadline: deadlineIn(60_000) });
  const rejected = expect(failed).rejects.toThrow('no time');
  (await accept()).end();
  await rejected;
  const next = rowsOf(run('two'));
  await (await accept()).settle(2);
  expect(await next).toEqual([2]);
});

it('pauses between attempts to connect, also after a connection is lost', async () => {
  vi.useRealTimers();
  const { attempts, run, accept, fail } = createPool({ retryDelay: 200 });
  const unreachable = expect(run('one')).rejects.toThrow('unreachable');
  await fail(new Error('unreachable'));
  await unreachable;
  const failed = expect(run('two')).rejects.toThrow('lost');
  await (await accept()).settle(lost());
  await failed;
  const next = rowsOf(run('three'));
  await (await accept()).settle(3);
  expect(await next).toEqual([3]);
  const starts = attempts.map(({ startedAt }) => startedAt);
  const delays = starts.slice(1).map((startedAt, i) => startedAt - (starts[i] ?? 0));
  expect(delays).toHaveLength(2);
  // The pool measures the delay from the start of the last attempt.
  for (const delay of delays) expect(delay).toBeGreaterThan(100);
});

it('does not connect after the pool is closed, even when a statement waits for the next attempt', async () => {
  vi.useRealTimers();
  const { attempts, pool, run, fail } = createPool({ retryDelay: 100 });
  const unreachable = expect(run('one')).rejects.toThrow('unreachable');
  await fail(new Error('unreachable'));
  await unreachable;
  const closed = expect(run('two')).rejects.toThrow('the store is closed');
  await setImmediate(); // The pause begins.
  await pool.close();
  await closed;
  // Timers end in their order, so the pause of the pool ends first.
  await setTimeout(110);
  expect(attempts).toHaveLength(1);
});

it('runs lists on a second connection while many searches wait', async () => {
  const { run, accept } = createPool({ shares: { lists: 2 } });
  const searches = ['search 1', 'search 2', 'search 3'].map((text) =>
    rowsOf(run(text, { share: 'searches' })),
  );
  const searching = await accept();
  const lists = ['list 1', 'list 2'].map((text) => rowsOf(run(text, { share: 'lists' })));
  const listing = await accept();
  for (const text of ['list 1', 'list 2']) {
    expect(listing.statements.at(-1)).toBe(text);
    await listing.settle();
  }
  await Promise.all(lists);
  expect(searching.statements).toEqual(['search 1']);
  for (let i = 0; i < 3; i++) await searching.settle();
  await Promise.all(searches);
  expect(searching.statements).toEqual(['search 1', 'search 2', 'search 3']);
});

it('runs all waiting lists before the next waiting search', async () => {
  const { run, accept } = createPool({ shares: { lists: 1 } });
  const searches = ['search 1', 'search 2'].map((text) => run(text, { share: 'searches' }));
  const connection = await accept();
  const lists = ['list 1', 'list 2'].map((text) => run(text, { share: 'lists' }));
  for (let i = 0; i < 4; i++) await connection.settle();
  await Promise.all([...searches, ...lists]);
  expect(connection.statements).toEqual(['search 1', 'list 1', 'list 2', 'search 2']);
});

it('throws an error when the pool has no connections for a kind of statement', async () => {
  const { run } = createPool();
  await expect(run('a statement', { share: 'bulk' })).rejects.toThrow(
    'this database has no connections for bulk',
  );
});

describe('a statement that waits for a connection', () => {
  const shares = { creates: 1, lists: 1 };

  it('rejects a waiting statement at its deadline', async () => {
    const { run, accept } = createPool({ shares });
    const running = run('one');
    const connection = await accept();
    const late = expect(run('two', { deadline: deadlineIn(50) })).rejects.toThrow(
      'no connection was free in time',
    );
    const next = run('three');
    await vi.advanceTimersByTimeAsync(50);
    await late;
    await connection.settle();
    await connection.settle();
    await Promise.all([running, next]);
    expect(connection.statements).toEqual(['one', 'three']);
  });

  it('rejects a waiting statement as overloaded when another statement has ended during the wait', async () => {
    const { run, accept } = createPool({ shares });
    const all = [run('one'), run('two')];
    const connection = await accept();
    const late = expect(run('three', { deadline: deadlineIn(50) })).rejects.toMatchObject({
      kind: 'overloaded',
    });
    await connection.settle();
    await vi.advanceTimersByTimeAsync(50);
    await late;
    await connection.settle();
    await Promise.all(all);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each(['lists', 'searches'] as const)(
    'rejects waiting %s as overloaded after four fifths of the time limit when a list has ended',
    async (share) => {
      const { run, accept } = createPool({ shares });
      const first = rowsOf(run('first', { share: 'lists' }));
      const connection = await accept();
      const second = rowsOf(run('second', { share }));
      const options = { share, deadline: deadlineIn(5_000) };
      const late = expect(run('late', options)).rejects.toMatchObject({ kind: 'overloaded' });
      await connection.settle(1);
      expect(await first).toEqual([1]);
      await vi.advanceTimersByTimeAsync(4_000);
      await late;
      await connection.settle(2);
      expect(await second).toEqual([2]);
      expect(connection.statements).toEqual(['first', 'second']);
    },
  );

  it('rejects a statement at its deadline when the pool cannot open a connection', async () => {
    const { run, accept } = createPool({ shares });
    const late = expect(run('one', { deadline: deadlineIn(50) })).rejects.toThrow(
      /no response within \d+ ms/,
    );
    await vi.advanceTimersByTimeAsync(50);
    await late;
    const next = run('two');
    const connection = await accept();
    await connection.settle();
    await next;
    expect(connection.statements).toEqual(['two']);
  });
});

describe('a statement that still runs at its deadline', () => {
  const shares = { creates: 1, lookUps: 1 };

  /** Starts a statement, waits for the deadline, and returns the connection of the running statement. */
  const runLate = async ({ run, accept }: ReturnType<typeof createPool>) => {
    const deadline = deadlineIn(50);
    const late = expect(run('late', { deadline })).rejects.toThrow(/no response within \d+ ms/);
    const connection = await accept();
    await vi.advanceTimersByTimeAsync(deadline - performance.now());
    await late;
    return connection;
  };

  it.each([serverError('57014'), 'the cancel request came too late'])(
    'cancels a late statement, and uses its connection again when the statement has ended (%#)',
    async (end) => {
      const pool = createPool({ shares });
      const connection = await runLate(pool);
      expect(connection.cancels).toBe(1);
      const next = rowsOf(pool.run('next'));
      await vi.advanceTimersByTimeAsync(499);
      expect(connection.statements).toEqual(['late']);
      await connection.settle(end);
      await connection.settle('the next one');
      expect(await next).toEqual(['the next one']);
      expect(connection.closes).toBe(0);
    },
  );

  it('closes the connection of a late statement after half a second, unless the server is committing', async () => {
    const pool = createPool({ shares });
    const connection = await runLate(pool);
    const next = rowsOf(pool.run('next'));
    await vi.advanceTimersByTimeAsync(499);
    expect(connection.closes).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    const other = await pool.accept();
    await other.settle('the next one');
    expect(connection.closes).toBe(1);
    expect(await next).toEqual(['the next one']);
  });

  it('does not close the connection of a late statement while the server is committing', async () => {
    const pool = createPool({ shares });
    const connection = await runLate(pool);
    connection.isInCommit = true;
    const next = rowsOf(pool.run('next'));
    await vi.advanceTimersByTimeAsync(500);
    await pool.accept();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(connection.closes).toBe(0);
    await connection.settle('committed');
    await connection.settle('the next one');
    expect(await next).toEqual(['the next one']);
    expect(connection.closes).toBe(0);
  });

  it('when all connections are busy, opens an extra connection to ask whether a late statement is committing', async () => {
    const { pool, run, accept } = createPool({ shares });
    const reading = run('read', { share: 'lookUps' });
    const reader = await accept();
    const deadline = deadlineIn(1_000);
    const late = expect(run('late', { deadline })).rejects.toThrow(/no response/);
    const connection = await accept();
    await vi.advanceTimersByTimeAsync(deadline - performance.now());
    await late;
    connection.isInCommit = true;
    await vi.advanceTimersByTimeAsync(500);
    const further = await accept();
    await vi.waitFor(() => expect(pool.state('requests').unsettled).toBe(1));
    expect(further.closes).toBe(1);
    further.end();
    await connection.settle();
    expect(pool.state('requests').unsettled).toBe(0);
    await reader.settle();
    await reading;
    expect([reader.closes, connection.closes]).toEqual([0, 0]);
  });

  it('closes idle connections after a late statement, and opens a new connection for the next statement', async () => {
    const { run, accept } = createPool({ shares });
    const before = run('before', { share: 'lookUps' });
    const idle = await accept();
    await idle.settle();
    await before;
    const deadline = deadlineIn(50);
    const used = run('used', { share: 'lookUps' });
    const late = expect(run('late', { deadline })).rejects.toThrow(/no response/);
    await accept();
    await idle.settle();
    await used;
    await vi.advanceTimersByTimeAsync(deadline - performance.now());
    await late;
    const next = rowsOf(run('next', { share: 'lookUps' }));
    await vi.waitFor(() => expect(idle.closes).toBe(1));
    idle.end();
    await (await accept()).settle('on a new connection');
    expect(await next).toEqual(['on a new connection']);
  });

  describe('a caller that waits longer than the deadline of the statement', () => {
    const runLong = async ({ run, accept }: ReturnType<typeof createPool>) => {
      const deadline = deadlineIn(50);
      const result = run('long', { deadline, until: deadlineIn(5_000) });
      const outcome = result.then(({ rows }) => rows[0]).catch((error: unknown) => error);
      const connection = await accept();
      await vi.advanceTimersByTimeAsync(deadline - performance.now());
      expect(connection.cancels).toBe(1);
      return { connection, outcome };
    };

    it.each([['committed'], [serverError('57014')]])(
      'gives the caller the outcome of a late statement (%#)',
      async (end) => {
        const pool = createPool({ shares });
        const { connection, outcome } = await runLong(pool);
        await connection.settle(end);
        expect(await outcome).toBe(end);
        expect(connection.closes).toBe(0);
      },
    );

    it('does not close the connection before the caller gives up when the pool cannot ask whether the server is committing', async () => {
      const pool = createPool({ shares: { creates: 1 } });
      const { connection, outcome } = await runLong(pool);
      await vi.advanceTimersByTimeAsync(4_000);
      expect(connection.closes).toBe(0);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await outcome).toMatchObject({ message: expect.stringMatching('no response within') });
      expect(connection.closes).toBe(1);
    });
  });

  it('closes a connection that is lost after the deadline', async () => {
    const pool = createPool({ shares });
    const connection = await runLate(pool);
    await connection.settle(lost());
    expect(connection.closes).toBe(1);
  });

  it('never cancels a statement that runs without a deadline', async () => {
    const { run, accept } = createPool({ shares });
    const result = rowsOf(run('one', { deadline: Number.POSITIVE_INFINITY }));
    const connection = await accept();
    const waiting = rowsOf(run('two', { deadline: Number.POSITIVE_INFINITY }));
    await vi.advanceTimersByTimeAsync(9 * 60_000);
    await connection.settle(1);
    await connection.settle(2);
    expect([await result, await waiting]).toEqual([[1], [2]]);
    expect(connection.cancels).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('mayCommit', () => {
  const shares = { creates: 2, lookUps: 1 };

  it.each([
    { commits: [true, true], expected: true },
    // The first statement waits for a lock. The pool must not hold back other statements for this lock.
    { commits: [false, true], expected: false },
    { commits: [false, false], expected: false },
    { commits: [undefined, undefined], expected: true },
  ])(
    'returns $expected when the states of the running statements are $commits',
    async ({ commits, expected }) => {
      const { pool, run, accept } = createPool({ shares });
      const looking = run('a look-up', { share: 'lookUps' });
      const idle = await accept();
      const results = commits.map((_, i) => run(`create ${i}`));
      const connections = [await accept(), await accept()];
      connections.forEach((connection, i) => {
        connection.isInCommit = commits[i];
      });
      await idle.settle();
      await looking;
      expect(await pool.mayCommit('creates')).toBe(expected);
      // The look-up has ended, so no look-up is committing.
      expect(await pool.mayCommit('lookUps')).toBe(false);
      // The pool has asked about the commits on the idle connection, and keeps this connection open.
      expect(idle.closes).toBe(0);
      for (const connection of connections) await connection.settle();
      await Promise.all(results);
    },
  );
});

const lateError = () => serverError('22P02', 'ERROR', `invalid input: "${lateWrite}: 2026-11-22"`);

it('rejects waiting statements when the clocks of the store and the database differ by more than a second', async () => {
  const { pool, run, accept } = createPool({ shares: { creates: 1, lists: 1 } });
  const heard: Error[] = [];
  for (let i = 0; i < 2; i++) pool.onClockMoved((error) => heard.push(error));
  const error = lateError();
  const moved = {
    message: 'the clocks of the database and of this machine have moved apart',
    severity: 'ERROR',
    code: 'CLOCKS_MOVED',
  };
  const list = run('list', { share: 'lists' });
  const listing = await accept();
  const failed = [run('create'), run('next'), run('next list', { share: 'lists' })].map((each) =>
    expect(each).rejects.toMatchObject(moved),
  );
  const creating = await accept();
  await creating.settle(error);
  await Promise.all(failed);
  expect(heard).toMatchObject([moved, moved]);

  // Only a new connection compares the clocks, so the pool closes the old connections.
  expect(creating.closes).toBe(1);
  await listing.settle();
  await list;
  expect(listing.closes).toBe(1);
  for (const connection of [creating, listing]) connection.end();
  const again = rowsOf(run('again'));
  await (await accept()).settle('created');
  expect(await again).toEqual(['created']);
});

it('closes no connection when the clocks of the store and the database differ by less than a second', async () => {
  const { pool, run, accept } = createPool();
  const heard: Error[] = [];
  pool.onClockMoved((error) => heard.push(error));
  const error = lateError();
  const deadline = deadlineIn(5_000);
  const failed = expect(run('create', { deadline })).rejects.toBe(error);
  const connection = await accept();
  vi.advanceTimersByTime(deadline - 1_000 - performance.now());
  await connection.settle(error);
  await failed;
  expect(heard).toEqual([]);
  expect(connection.closes).toBe(0);
});

it('runs the next statement on a new connection when the old connection is ten minutes old', async () => {
  const { run, accept } = createPool();
  const useConnection = async (connection: TestConnection, result = rowsOf(run('a statement'))) => {
    await connection.settle();
    await result;
  };
  const first = rowsOf(run('a statement'));
  const connection = await accept();
  const openedAt = performance.now();
  await useConnection(connection, first);
  vi.advanceTimersByTime(openedAt + 9 * 60_000 - performance.now());
  await useConnection(connection);
  expect(connection.closes).toBe(0);
  vi.advanceTimersByTime(openedAt + 10 * 60_000 - performance.now());
  const next = rowsOf(run('a statement'));
  await setImmediate();
  await useConnection(await accept(), next);
  expect(connection.closes).toBe(1);
  expect(connection.statements).toHaveLength(2);
});

it('cancels a slow statement when the pool is closed', async () => {
  const { pool, run, accept } = createPool();
  const failed = expect(run('one')).rejects.toThrow();
  const second = run('two');
  const [used, idle] = [await accept(), await accept()];
  await idle.settle();
  await second;
  const closed = pool.close();
  await vi.waitFor(() => expect(used.closes).toBe(1));
  // The pool has closed the idle connection, and waits until the server has ended the session.
  expect(idle.closes).toBe(1);
  await used.settle(new Error('cancelled'));
  await failed;
  for (const connection of [used, idle]) connection.end();
  await closed;
});

it('leaves no timer behind when the pool is closed', async () => {
  const { pool } = createPool();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await pool.close();
  expect(timers()).toBe(before);
});
