import { setImmediate, setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConnectionPool } from '../../src/database/connection-pool.ts';
import type { DatabaseConnection } from '../../src/database/database.ts';
import { lateWrite } from '../../src/database/database-error.ts';
import { deadlineIn } from '../../src/database/deadline.ts';
import type { Values } from '../../src/database/query.ts';
import type { StatementOptions } from '../../src/database/verbs.ts';

/** A connection. The test ends its statements. */
class TestConnection implements DatabaseConnection {
  isOpen = true;
  /** The number of statements that the pool has cancelled, and how often it has closed the connection. */
  cancels = 0;
  closes = 0;
  /** Undefined behind a pooler. */
  isInCommit: boolean | undefined = false;
  readonly statements: string[] = [];
  readonly values: Values[] = [];
  readonly #closed = Promise.withResolvers<void>();
  #running: PromiseWithResolvers<{ rows: unknown[]; count: number }> | undefined;

  query(text: string, values: Values = []) {
    this.statements.push(text);
    this.values.push(values);
    this.#running = Promise.withResolvers();
    return this.#running.promise;
  }

  timeOf(deadline: number) {
    return `the time ${deadline}`;
  }

  async cancel() {
    this.cancels++;
  }

  async isCommitting(): Promise<boolean | undefined> {
    return this.isInCommit;
  }

  /** Ends the next statement with one row or with an error, as soon as it runs. */
  async settle(result: unknown = 'row') {
    // `waitFor` moves a fake clock.
    if (!this.#running) {
      await vi.waitFor(() => expect(this.#running).toBeDefined(), { interval: 1 });
    }
    const running = this.#running;
    this.#running = undefined;
    if (result instanceof Error) running?.reject(result);
    else running?.resolve({ rows: [result], count: 1 });
    await setImmediate();
  }

  close() {
    this.closes++;
    this.isOpen = false;
    return this.#closed.promise;
  }

  /** The server has ended the session. */
  end() {
    this.#closed.resolve();
  }
}

/** A number of milliseconds that is far more than a slow machine needs for a step of a test. */
const longDelay = 400;

/** A pool of two connections for creates, and its attempts to connect. */
function createPool(
  options: Partial<ConstructorParameters<typeof ConnectionPool<TestConnection>>[0]> = {},
) {
  const attempts: (PromiseWithResolvers<TestConnection> & { startedAt: number })[] = [];
  let settledCount = 0;
  const connect = () => {
    const attempt = { ...Promise.withResolvers<TestConnection>(), startedAt: performance.now() };
    attempts.push(attempt);
    return attempt.promise;
  };
  const next = async () => {
    await vi.waitFor(() => expect(attempts.length).toBeGreaterThan(settledCount), { interval: 1 });
    return attempts[settledCount++];
  };
  const pool = new ConnectionPool({ connect, shares: { creates: 2 }, retryDelay: 30, ...options });
  return {
    pool,
    attempts,
    /** Runs a create. By default, its deadline is far off. */
    run: (text: string, options: Partial<StatementOptions> = {}) =>
      pool.run(text, [], { share: 'creates', deadline: deadlineIn(60_000), ...options }),
    /** Lets the next attempt succeed. */
    async accept() {
      const connection = new TestConnection();
      (await next())?.resolve(connection);
      await setImmediate();
      return connection;
    },
    /** Lets the next attempt fail. */
    async fail(error: Error) {
      (await next())?.reject(error);
      await setImmediate();
    },
  };
}

const rowsOf = async (result: Promise<{ rows: unknown[] }>) => (await result).rows;

/** An error that the server reports about a statement. */
function serverError(code: string, severity = 'ERROR', message = 'from the server'): Error {
  // postgres.js makes this error from the fields of a message.
  const fields = { code, severity, message };
  return Object.assign(Object.create(postgres.PostgresError.prototype), fields);
}

const lost = (code = 'CONNECTION_CLOSED') => Object.assign(new Error('lost'), { code });

/** Stops the clocks, so that the test decides when a deadline comes. */
function stopClocks(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

it('opens a connection for a statement, and keeps it for the next one', async () => {
  const { pool, attempts, run, accept } = createPool();
  expect(attempts).toHaveLength(0);
  const first = rowsOf(run('one'));
  const connection = await accept();
  await connection.settle(1);
  expect(await first).toEqual([1]);
  const second = rowsOf(run('two'));
  await connection.settle(2);
  expect(await second).toEqual([2]);
  const task = pool.use({ share: 'creates', deadline: deadlineIn(60_000) }, async (used) => used);
  expect(await task).toBe(connection);
  expect(connection.statements).toEqual(['one', 'two']);
  expect(attempts).toHaveLength(1);
  expect(connection.closes).toBe(0);
});

it('makes the values of a statement from its deadline by the clock of the database', async () => {
  const { pool, accept } = createPool();
  const options = { share: 'creates', deadline: deadlineIn(60_000) } as const;
  const result = pool.run('one', (until) => ['x', until], options);
  const connection = await accept();
  await connection.settle();
  await result;
  expect(connection.values).toEqual([['x', `the time ${options.deadline}`]]);
});

it('gives a statement five seconds when it has no deadline', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { pool, accept } = createPool();
  const inFiveSeconds = deadlineIn(5_000);
  const result = pool.run('one', (until) => [until], { share: 'creates' });
  const connection = await accept();
  await connection.settle();
  await result;
  expect(connection.values).toEqual([[`the time ${inFiveSeconds}`]]);
});

it('runs the next statement when the values of one cannot be made', async () => {
  const { pool, run, accept } = createPool({ shares: { creates: 1 } });
  const values = () => {
    throw new RangeError('no time');
  };
  const failed = pool.run('one', values, { share: 'creates', deadline: deadlineIn(60_000) });
  const rejected = expect(failed).rejects.toThrow('no time');
  (await accept()).end();
  await rejected;
  const next = rowsOf(run('two', { deadline: deadlineIn(1_000) }));
  await (await accept()).settle(2);
  expect(await next).toEqual([2]);
});

it('opens connections one after the other, up to the limit', async () => {
  const { attempts, run, accept } = createPool();
  const results = [1, 2, 3].map((each) => rowsOf(run(`statement ${each}`)));
  await vi.waitFor(() => expect(attempts).toHaveLength(1));
  const first = await accept();
  const second = await accept();
  expect([first.statements, second.statements]).toEqual([['statement 1'], ['statement 2']]);
  await second.settle('b');
  expect(second.statements).toEqual(['statement 2', 'statement 3']);
  // A statement that comes when all connections are busy waits for one of them.
  results.push(rowsOf(run('statement 4')));
  // A timer of the pool before an attempt to connect would end earlier than this one.
  await setTimeout(1);
  await first.settle('a');
  expect(first.statements).toEqual(['statement 1', 'statement 4']);
  await second.settle('c');
  await first.settle('d');
  expect(await Promise.all(results)).toEqual([['a'], ['b'], ['c'], ['d']]);
  expect(attempts).toHaveLength(2);
});

it('fails the waiting statements when an attempt to connect fails, and tries again later', async () => {
  const { attempts, run, accept, fail } = createPool({ retryDelay: longDelay });
  const unreachable = new Error('unreachable');
  const waiting = [run('one'), run('two')];
  const failed = Promise.all(
    waiting.map((each) =>
      expect(each).rejects.toMatchObject({ name: 'NotSentError', cause: unreachable }),
    ),
  );
  await fail(unreachable);
  await failed;
  expect(attempts).toHaveLength(1);

  const second = expect(run('three')).rejects.toThrow('unreachable again');
  await fail(new Error('unreachable again'));
  await second;
  const third = rowsOf(run('four'));
  await (await accept()).settle(4);
  expect(await third).toEqual([4]);
  expectDelays(attempts);
});

/** Expects that each attempt started at least `longDelay` after the previous one. */
function expectDelays(attempts: readonly { startedAt: number }[]): void {
  const starts = attempts.map(({ startedAt }) => startedAt);
  const delays = starts.slice(1).map((startedAt, i) => startedAt - (starts[i] ?? 0));
  // A timer may be a millisecond early.
  for (const delay of delays) expect(delay).toBeGreaterThan(longDelay - 2);
}

it('waits before the next attempt to connect after a lost connection', async () => {
  const { attempts, run, accept } = createPool({ retryDelay: longDelay });
  const failed = expect(run('one')).rejects.toThrow('lost');
  await (await accept()).settle(lost());
  await failed;
  const next = rowsOf(run('two'));
  await (await accept()).settle(2);
  expect(await next).toEqual([2]);
  expectDelays(attempts);
});

it('fails a statement when the only connection was lost and no other can be opened', async () => {
  const { run, accept, fail } = createPool();
  const first = rowsOf(run('one'));
  const connection = await accept();
  await connection.settle(1);
  await first;
  connection.isOpen = false;
  const failed = expect(run('two')).rejects.toThrow('unreachable');
  await fail(new Error('unreachable'));
  await failed;
});

it('does not fail statements while another connection is open', async () => {
  const { run, accept, fail } = createPool();
  const first = rowsOf(run('one'));
  const connection = await accept();
  const second = rowsOf(run('two'));
  await fail(new Error('unreachable'));
  await connection.settle(1);
  expect(await first).toEqual([1]);
  await connection.settle(2);
  expect(await second).toEqual([2]);
});

it.each(['23505', '53100', '40P01'])(
  'keeps its connections when a statement fails with %s',
  async (code) => {
    const { attempts, run, accept } = createPool();
    const failed = expect(run('one')).rejects.toMatchObject({ code });
    const connection = await accept();
    await connection.settle(serverError(code));
    await failed;
    const next = rowsOf(run('two'));
    await connection.settle(2);
    expect(await next).toEqual([2]);
    expect(attempts).toHaveLength(1);
  },
);

it.each([
  ['the session is ended', serverError('57P01', 'FATAL')],
  ['the server is read-only', serverError('25006')],
  ['the connection is lost', lost()],
  ['an error of another kind comes', new Error('x')],
])('replaces all connections when %s', async (_, error) => {
  const { attempts, run, accept } = createPool({ retryDelay: 0 });
  const results = [run('one'), run('two')];
  const [first, second] = [await accept(), await accept()];
  await second.settle('idle');
  await results[1];
  const failed = expect(results[0]).rejects.toBe(error);
  const failedAt = performance.now();
  await first.settle(error);
  await failed;
  expect([first.closes, second.closes]).toEqual([1, 1]);

  // Both connections count as open until their sessions have ended.
  const next = rowsOf(run('three'));
  await setImmediate(); // Now the statement waits.
  await setTimeout(1); // A timer of the pool, before an attempt to connect, would end earlier.
  expect(attempts).toHaveLength(2);
  second.end();
  await (await accept()).settle('new');
  expect(await next).toEqual(['new']);
  expect(attempts[2]?.startedAt).toBeGreaterThanOrEqual(failedAt);
});

it('closes a busy connection after its statement when another connection was lost', async () => {
  const { run, accept } = createPool();
  const results = [run('one'), rowsOf(run('two'))];
  const [first, second] = [await accept(), await accept()];
  const failed = expect(results[0]).rejects.toThrow('lost');
  await first.settle(lost());
  await failed;
  expect(second.closes).toBe(0);
  await second.settle('still settled');
  expect(await results[1]).toEqual(['still settled']);
  expect(second.closes).toBe(1);
});

it('replaces even a connection that is opening', async () => {
  const { pool, attempts, run, accept } = createPool();
  const result = rowsOf(run('one'));
  await vi.waitFor(() => expect(attempts).toHaveLength(1));
  pool.replaceAll();
  const old = await accept();
  expect(old.closes).toBe(1);
  old.end();
  await (await accept()).settle();
  expect(await result).toEqual(['row']);
  expect(old.statements).toEqual([]);
});

it('does not replace new connections after an error on an old one', async () => {
  const { run, accept } = createPool();
  const results = [run('one'), run('two')];
  const [first, second] = [await accept(), await accept()];
  const failed = Promise.all(results.map((each) => expect(each).rejects.toThrow('lost')));
  await first.settle(lost());
  first.end();
  const next = rowsOf(run('three'));
  const third = await accept();
  await second.settle(lost());
  await failed;
  await third.settle(3);
  expect(await next).toEqual([3]);
  expect(third.closes).toBe(0);
});

it('does not use an idle connection that was lost meanwhile', async () => {
  const { run, accept } = createPool({ shares: { creates: 1 } });
  const first = rowsOf(run('one'));
  const connection = await accept();
  await connection.settle(1);
  await first;
  connection.isOpen = false;
  const second = rowsOf(run('two'));
  await vi.waitFor(() => expect(connection.closes).toBe(1));
  connection.end();
  await (await accept()).settle(2);
  expect(await second).toEqual([2]);
  expect(connection.statements).toEqual(['one']);
});

it('does not keep a connection that was lost during its statement', async () => {
  const { run, accept } = createPool();
  const first = rowsOf(run('one'));
  const connection = await accept();
  connection.isOpen = false;
  await connection.settle(1);
  expect(await first).toEqual([1]);
  expect(connection.closes).toBe(1);
});

describe.each(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01'])('after %s', (code) => {
  it('runs a repeatable statement once more', async () => {
    const { run, accept } = createPool();
    const result = rowsOf(run('one', { isRepeatable: true }));
    await (await accept()).settle(lost(code));
    const second = await accept();
    await second.settle(1);
    expect(await result).toEqual([1]);
    expect(second.statements).toEqual(['one']);
  });

  it('does not run any other statement again', async () => {
    const { attempts, run, accept } = createPool();
    const failed = expect(run('one')).rejects.toThrow('lost');
    await (await accept()).settle(lost(code));
    await failed;
    expect(attempts).toHaveLength(1);
  });
});

it('never runs a statement a third time', async () => {
  const { attempts, run, accept } = createPool();
  const failed = expect(run('one', { isRepeatable: true })).rejects.toThrow('lost');
  await (await accept()).settle(lost());
  await (await accept()).settle(lost());
  await failed;
  expect(attempts).toHaveLength(2);
});

it.each([serverError('23505'), new Error('without a code')])(
  'does not run a statement again after another error (%#)',
  async (error) => {
    const { run, accept } = createPool();
    const failed = expect(run('one', { isRepeatable: true })).rejects.toBe(error);
    const connection = await accept();
    await connection.settle(error);
    await failed;
    expect(connection.statements).toEqual(['one']);
  },
);

describe('each kind of statements', () => {
  const shares = { creates: 1, lists: 1 };
  const list = { share: 'lists' } as const;

  it('has its own connections, so that a flood of another kind does not delay it', async () => {
    const { attempts, run, accept } = createPool({ shares });
    const lists = Array.from({ length: 100 }, (_, i) => rowsOf(run(`list ${i}`, list)));
    const listing = await accept();
    const create = rowsOf(run('create'));
    const creating = await accept();
    expect([listing.statements, creating.statements]).toEqual([['list 0'], ['create']]);
    await creating.settle('created');
    expect(await create).toEqual(['created']);
    for (let i = 0; i < 100; i++) await listing.settle(i);
    expect((await Promise.all(lists)).flat()).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(creating.statements).toHaveLength(1);

    // A list still waits for the list before it.
    const more = [run('a list', list), run('another list', list)];
    const again = rowsOf(run('create again'));
    await creating.settle('created again');
    expect(await again).toEqual(['created again']);
    for (let i = 0; i < 2; i++) await listing.settle();
    await Promise.all(more);
    expect(creating.statements).toEqual(['create', 'create again']);
    expect(attempts).toHaveLength(2);
  });

  it('leaves a connection to other lists during a flood of searches', async () => {
    const { run, accept } = createPool({ shares: { lists: 2 } });
    const searches = ['search 1', 'search 2', 'search 3'].map((text) =>
      rowsOf(run(text, { share: 'searches' })),
    );
    const searching = await accept();
    const lists = ['list 1', 'list 2'].map((text) => rowsOf(run(text, list)));
    const listing = await accept();
    for (const text of ['list 1', 'list 2']) {
      expect(listing.statements.at(-1)).toBe(text);
      await listing.settle();
    }
    await Promise.all(lists);
    expect(searching.statements).toEqual(['search 1']);
    expect(listing.statements).toEqual(['list 1', 'list 2']);
    for (let i = 0; i < 3; i++) await searching.settle();
    await Promise.all(searches);
    expect(searching.statements).toEqual(['search 1', 'search 2', 'search 3']);
  });

  it('runs the lists that wait before the next search', async () => {
    const { run, accept } = createPool({ shares });
    const searches = ['search 1', 'search 2'].map((text) => run(text, { share: 'searches' }));
    const connection = await accept();
    const lists = ['list 1', 'list 2'].map((text) => run(text, list));
    for (let i = 0; i < 4; i++) await connection.settle();
    await Promise.all([...searches, ...lists]);
    expect(connection.statements).toEqual(['search 1', 'list 1', 'list 2', 'search 2']);
  });

  it('throws when the pool has no connections for it', async () => {
    const { run } = createPool({ shares });
    await expect(run('a statement', { share: 'bulk' })).rejects.toThrow(
      'this database has no connections for bulk',
    );
  });

  it('gets further connections', async () => {
    const { pool, run, accept } = createPool({ shares });
    const lists = ['one', 'two', 'three', 'four'].map((text) => rowsOf(run(text, list)));
    const connections = [await accept()];
    pool.resize('lists', 2);
    connections.push(await accept(), await accept());
    expect(connections.map(({ statements }) => statements)).toEqual([['one'], ['two'], ['three']]);
    for (const connection of connections) await connection.settle();
    await connections[0]?.settle();
    expect(await Promise.all(lists)).toHaveLength(4);
  });
});

describe('a statement that waits for a connection', () => {
  const shares = { creates: 1, lists: 1 };

  it('is rejected at once when too many statements of its kind wait', async () => {
    const { run, accept } = createPool({ shares, maxWaiting: 2 });
    const running = run('one');
    const connection = await accept();
    const waiting = [run('two'), run('three')];
    await expect(run('four')).rejects.toMatchObject({
      kind: 'overloaded',
      code: 50301,
      message:
        'too many such requests are waiting already: nothing was written, send the request again later',
    });
    const list = run('list', { share: 'lists' });
    await (await accept()).settle();
    await list;
    for (let i = 0; i < 3; i++) await connection.settle();
    await Promise.all([running, ...waiting]);
    expect(connection.statements).toEqual(['one', 'two', 'three']);
  });

  it('is rejected at its deadline', async () => {
    stopClocks();
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

  it('is rejected as overloaded at its deadline when other statements have ended meanwhile', async () => {
    stopClocks();
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

  it('is rejected as overloaded after four fifths of its time if it is a list', async () => {
    stopClocks();
    const { run, accept } = createPool({ shares });
    const first = rowsOf(run('first', { share: 'lists' }));
    const connection = await accept();
    const second = rowsOf(run('second', { share: 'lists' }));
    const options = { share: 'lists', deadline: deadlineIn(5_000) } as const;
    const late = expect(run('late', options)).rejects.toMatchObject({ kind: 'overloaded' });
    await connection.settle(1);
    expect(await first).toEqual([1]);
    await vi.advanceTimersByTimeAsync(4_000);
    await late;
    await connection.settle(2);
    expect(await second).toEqual([2]);
    expect(connection.statements).toEqual(['first', 'second']);
  });

  it('is rejected at its deadline while no connection can be opened', async () => {
    stopClocks();
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

  it('does not run when its caller has disconnected', async () => {
    const { run, accept } = createPool({ shares });
    const caller = { isGone: false };
    const running = run('one', { caller });
    const connection = await accept();
    const dropped = expect(run('two', { caller })).rejects.toThrow('the caller has disconnected');
    const next = run('three');
    caller.isGone = true;
    await connection.settle('of the disconnected caller');
    await dropped;
    expect(await rowsOf(running)).toEqual(['of the disconnected caller']);
    await connection.settle();
    await next;
    expect(connection.statements).toEqual(['one', 'three']);
  });

  it('makes room for another statement when its caller has disconnected', async () => {
    const { run, accept } = createPool({ shares, maxWaiting: 2 });
    const running = run('one');
    const connection = await accept();
    const caller = { isGone: false };
    const dropped = expect(run('two', { caller })).rejects.toThrow('the caller has disconnected');
    const waiting = run('three');
    caller.isGone = true;
    const next = run('four');
    await dropped;
    for (let i = 0; i < 3; i++) await connection.settle();
    await Promise.all([running, waiting, next]);
    expect(connection.statements).toEqual(['one', 'three', 'four']);
  });
});

describe('a statement that runs at its deadline', () => {
  const shares = { creates: 1, lookUps: 1 };

  /** Runs a statement until its deadline. */
  const runLate = async ({ run, accept }: ReturnType<typeof createPool>) => {
    stopClocks();
    const deadline = deadlineIn(50);
    const late = expect(run('late', { deadline })).rejects.toThrow(/no response within \d+ ms/);
    const connection = await accept();
    await vi.advanceTimersByTimeAsync(deadline - performance.now());
    await late;
    return connection;
  };

  it.each([serverError('57014'), 'the cancel request came too late'])(
    'is cancelled, and its connection is used again when it has ended (%#)',
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

  it('loses its connection when it still runs half a second later and is not in a commit', async () => {
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

  it('keeps its connection while the server is in its commit', async () => {
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

  it('is found in its commit over an extra connection, which is closed later, while all others are busy', async () => {
    stopClocks();
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
    await vi.waitFor(() => expect(pool.unsettled).toBe(1));
    expect(further.closes).toBe(1);
    further.end();
    await connection.settle();
    expect(pool.unsettled).toBe(0);
    await reader.settle();
    await reading;
    expect([reader.closes, connection.closes]).toEqual([0, 0]);
  });

  it('makes the pool replace idle connections before their next use', async () => {
    const { run, accept } = createPool({ shares });
    stopClocks();
    const before = run('before', { share: 'lookUps' });
    const idle = await accept();
    await idle.settle();
    await before;
    const deadline = deadlineIn(50);
    // The first one takes the idle connection.
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

  describe('while its caller waits longer', () => {
    const runLong = async ({ run, accept }: ReturnType<typeof createPool>) => {
      stopClocks();
      const deadline = deadlineIn(50);
      const result = run('long', { deadline, until: deadlineIn(5_000) });
      const outcome = result.then(({ rows }) => rows[0]).catch((error: unknown) => error);
      const connection = await accept();
      await vi.advanceTimersByTimeAsync(deadline - performance.now());
      expect(connection.cancels).toBe(1);
      return { connection, outcome };
    };

    it.each([['committed'], [serverError('57014')]])(
      'gives the caller its outcome (%#)',
      async (end) => {
        const pool = createPool({ shares });
        const { connection, outcome } = await runLong(pool);
        await connection.settle(end);
        expect(await outcome).toBe(end);
        expect(connection.closes).toBe(0);
      },
    );

    it('keeps its connection that long while nobody knows whether the server is in a commit', async () => {
      const pool = createPool({ shares: { creates: 1 } });
      const { connection, outcome } = await runLong(pool);
      await vi.advanceTimersByTimeAsync(4_000);
      expect(connection.closes).toBe(0);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await outcome).toMatchObject({ message: expect.stringMatching('no response within') });
      expect(connection.closes).toBe(1);
    });
  });

  it('fails when its connection is lost', async () => {
    const pool = createPool({ shares });
    const connection = await runLate(pool);
    await connection.settle(lost());
    expect(connection.closes).toBe(1);
  });

  it('may take any time when it has no deadline', async () => {
    stopClocks();
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
    // The first statement waits for a lock. A new statement must not wait for the commit of the second one.
    { commits: [false, true], expected: false },
    { commits: [false, false], expected: false },
    { commits: [undefined, undefined], expected: true },
  ])('is $expected when statements are in a commit: $commits', async ({ commits, expected }) => {
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
    expect(await pool.mayCommit('lookUps')).toBe(false); // None of them runs.
    // The pool uses the connection of its questions again.
    expect(idle.closes).toBe(0);
    for (const connection of connections) await connection.settle();
    await Promise.all(results);
  });
});

const lateError = () => serverError('22P02', 'ERROR', `invalid input: "${lateWrite}: 2026-11-22"`);

it('rejects all waiting statements when the database rejects a write as late long before its deadline', async () => {
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

  // New connections compare the clocks again.
  expect(creating.closes).toBe(1);
  await listing.settle();
  await list;
  expect(listing.closes).toBe(1);
  for (const connection of [creating, listing]) connection.end();
  const again = rowsOf(run('again'));
  await (await accept()).settle('created');
  expect(await again).toEqual(['created']);
});

it('keeps its connections when the database rejects a write as late in the last second before its deadline', async () => {
  stopClocks();
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

it('replaces a connection after ten minutes, before its next statement', async () => {
  stopClocks();
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
  await setImmediate(); // `accept` moves the clock.
  await useConnection(await accept(), next);
  expect(connection.closes).toBe(1);
  expect(connection.statements).toHaveLength(2);
});

it('closes idle connections at once, and busy ones after their statements', async () => {
  const { pool, run, accept } = createPool();
  const results = [rowsOf(run('one')), rowsOf(run('two'))];
  const [used, idle] = [await accept(), await accept()];
  await idle.settle('a');
  expect(await results[1]).toEqual(['a']);
  pool.close();
  expect([used.closes, idle.closes]).toEqual([0, 1]);
  await used.settle('b');
  expect(await results[0]).toEqual(['b']);
  expect(used.closes).toBe(1);
  await expect(run('three')).rejects.toThrow('the store is closed');
});

it('cancels a statement that takes long when it is closed', async () => {
  const { pool, run, accept } = createPool();
  const failed = expect(run('one')).rejects.toThrow();
  const second = run('two');
  const [used, idle] = [await accept(), await accept()];
  await idle.settle();
  await second;
  const closed = pool.close();
  await vi.waitFor(() => expect(used.closes).toBe(1));
  expect(idle.closes).toBe(1); // Its session has not ended yet.
  await used.settle(new Error('cancelled'));
  await failed;
  for (const connection of [used, idle]) connection.end();
  await closed;
});

it('does not keep the process alive when its connections are closed', async () => {
  const { pool } = createPool();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await pool.close();
  expect(timers()).toBe(before);
});

it('rejects the waiting statements when it is closed, and closes a connection that opens afterwards', async () => {
  const { pool, attempts, run, accept } = createPool();
  const waiting = expect(run('one')).rejects.toThrow('the store is closed');
  await vi.waitFor(() => expect(attempts).toHaveLength(1));
  pool.close();
  await waiting;
  expect((await accept()).closes).toBe(1);
  expect(attempts).toHaveLength(1);
});
