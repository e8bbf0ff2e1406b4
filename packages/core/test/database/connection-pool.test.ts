import { setImmediate, setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
import { describe, expect, it, vi } from 'vitest';
import type { Connection } from '../../../src/database/postgres/connection.ts';
import { ConnectionPool } from '../../../src/database/connection-pool.ts';

/** A connection whose statements end when the test says so. */
class TestConnection implements Connection {
  isOpen = true;
  readonly isReadOnly = false;
  /** How many times the pool has closed it. */
  closes = 0;
  readonly statements: string[] = [];
  readonly #closed = Promise.withResolvers<void>();
  #running: PromiseWithResolvers<{ rows: unknown[]; count: number }> | undefined;

  query(text: string) {
    this.statements.push(text);
    this.#running = Promise.withResolvers();
    return this.#running.promise;
  }

  async copy(text: string, rows: Uint8Array) {
    await this.query(`${text} ${Buffer.from(rows)}`);
  }

  /** The pool only runs statements and copies into tables. */
  async *copyOut() {}

  /** Answers the running statement with one row, or with an error, as soon as it runs. */
  async answer(result: unknown = 'row') {
    await vi.waitFor(() => expect(this.#running).toBeDefined(), { interval: 1 });
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

/** Milliseconds; much more than a slow machine needs for a step of a test. */
const longDelay = 400;

/** A pool of two connections, and its attempts to connect. */
function createPool(options: Partial<ConstructorParameters<typeof ConnectionPool>[0]> = {}) {
  const attempts: (PromiseWithResolvers<Connection> & { startedAt: number })[] = [];
  let answered = 0;
  const connect = () => {
    const attempt = { ...Promise.withResolvers<Connection>(), startedAt: performance.now() };
    attempts.push(attempt);
    return attempt.promise;
  };
  const next = async () => {
    await vi.waitFor(() => expect(attempts.length).toBeGreaterThan(answered), { interval: 1 });
    return attempts[answered++];
  };
  return {
    pool: new ConnectionPool({ connect, max: 2, retryDelay: 30, ...options }),
    attempts,
    /** Answers the next attempt with a new connection. */
    async accept() {
      const connection = new TestConnection();
      (await next())?.resolve(connection);
      await setImmediate();
      return connection;
    },
    /** Fails the next attempt. */
    async refuse(error: Error) {
      (await next())?.reject(error);
      await setImmediate();
    },
  };
}

const rowsOf = async (answer: Promise<{ rows: unknown[] }>) => (await answer).rows;

/** An error that the server reports about a statement. */
function serverError(code: string, severity = 'ERROR'): Error {
  // postgres.js itself makes it of the fields of a message.
  return Object.assign(Object.create(postgres.PostgresError.prototype), { code, severity });
}

const lost = (code = 'CONNECTION_CLOSED') => Object.assign(new Error('lost'), { code });

it('opens a connection for a statement, and keeps it for the next one', async () => {
  const { pool, attempts, accept } = createPool();
  expect(attempts).toHaveLength(0);
  const first = rowsOf(pool.query('one'));
  const connection = await accept();
  await connection.answer(1);
  expect(await first).toEqual([1]);
  const second = rowsOf(pool.query('two'));
  await connection.answer(2);
  expect(await second).toEqual([2]);
  const copied = pool.copy('three', Buffer.from('rows'));
  await connection.answer();
  await copied;
  expect(connection.statements).toEqual(['one', 'two', 'three rows']);
  expect(attempts).toHaveLength(1);
  expect(connection.closes).toBe(0);
});

it('opens connections one after the other, up to its greatest number', async () => {
  const { pool, attempts, accept } = createPool();
  const answers = [1, 2, 3].map((each) => rowsOf(pool.query(`statement ${each}`)));
  await vi.waitFor(() => expect(attempts).toHaveLength(1));
  const first = await accept();
  const second = await accept();
  expect([first.statements, second.statements]).toEqual([['statement 1'], ['statement 2']]);
  await second.answer('b');
  expect(second.statements).toEqual(['statement 2', 'statement 3']);
  // A statement that comes when all connections are busy waits for one of them.
  answers.push(rowsOf(pool.query('statement 4')));
  await setTimeout(1); // A timer of the pool, before an attempt to connect, would end earlier.
  await first.answer('a');
  expect(first.statements).toEqual(['statement 1', 'statement 4']);
  await second.answer('c');
  await first.answer('d');
  expect(await Promise.all(answers)).toEqual([['a'], ['b'], ['c'], ['d']]);
  expect(attempts).toHaveLength(2);
});

it('fails the statements that wait when an attempt to connect fails, and tries again later', async () => {
  const { pool, attempts, accept, refuse } = createPool({ retryDelay: longDelay });
  const refused = new Error('refused');
  const waiting = [pool.query('one'), pool.query('two')];
  const failed = Promise.all(waiting.map((each) => expect(each).rejects.toBe(refused)));
  await refuse(refused);
  await failed;
  expect(attempts).toHaveLength(1);

  const second = expect(pool.query('three')).rejects.toThrow('refused again');
  await refuse(new Error('refused again'));
  await second;
  const third = rowsOf(pool.query('four'));
  await (await accept()).answer(4);
  expect(await third).toEqual([4]);
  expectDelays(attempts);
});

/** Expects that each attempt started `longDelay` after the one before, at least. */
function expectDelays(attempts: readonly { startedAt: number }[]): void {
  const starts = attempts.map(({ startedAt }) => startedAt);
  const delays = starts.slice(1).map((startedAt, i) => startedAt - (starts[i] ?? 0));
  // A timer may be a millisecond early.
  for (const delay of delays) expect(delay).toBeGreaterThan(longDelay - 2);
}

it('delays the attempt after a lost connection', async () => {
  const { pool, attempts, accept } = createPool({ retryDelay: longDelay });
  const failed = expect(pool.query('one')).rejects.toThrow('lost');
  await (await accept()).answer(lost());
  await failed;
  const next = rowsOf(pool.query('two'));
  await (await accept()).answer(2);
  expect(await next).toEqual([2]);
  expectDelays(attempts);
});

it('fails a statement when its only connection was lost, and no other can be opened', async () => {
  const { pool, accept, refuse } = createPool();
  const first = rowsOf(pool.query('one'));
  const connection = await accept();
  await connection.answer(1);
  await first;
  connection.isOpen = false;
  const failed = expect(pool.query('two')).rejects.toThrow('refused');
  await refuse(new Error('refused'));
  await failed;
});

it('does not fail statements while another connection is open', async () => {
  const { pool, accept, refuse } = createPool();
  const first = rowsOf(pool.query('one'));
  const connection = await accept();
  const second = rowsOf(pool.query('two'));
  await refuse(new Error('refused'));
  await connection.answer(1);
  expect(await first).toEqual([1]);
  await connection.answer(2);
  expect(await second).toEqual([2]);
});

it.each(['23505', '53100', '40P01'])(
  'keeps its connections when a statement fails with %s',
  async (code) => {
    const { pool, attempts, accept } = createPool();
    const failed = expect(pool.query('one')).rejects.toMatchObject({ code });
    const connection = await accept();
    await connection.answer(serverError(code));
    await failed;
    const next = rowsOf(pool.query('two'));
    await connection.answer(2);
    expect(await next).toEqual([2]);
    expect(attempts).toHaveLength(1);
  },
);

it.each([
  ['the session is ended', serverError('57P01', 'FATAL')],
  ['the server is read-only', serverError('25006')],
  ['the connection is lost', lost()],
  ['an error of another kind comes', Object.assign(new Error('x'), { severity: 'ERROR' })],
])('replaces all connections when %s', async (_, error) => {
  const { pool, attempts, accept } = createPool();
  const answers = [pool.query('one'), pool.query('two')];
  const [first, second] = [await accept(), await accept()];
  await second.answer('idle');
  await answers[1];
  const failed = expect(answers[0]).rejects.toBe(error);
  const failedAt = performance.now();
  await first.answer(error);
  await failed;
  expect([first.closes, second.closes]).toEqual([1, 1]);

  // Both count until their sessions have ended.
  const next = rowsOf(pool.query('three'));
  await setImmediate();
  expect(attempts).toHaveLength(2);
  second.end();
  await (await accept()).answer('new');
  expect(await next).toEqual(['new']);
  expect(attempts[2]?.startedAt).toBeGreaterThanOrEqual(failedAt);
});

it('closes a connection in use after its statement, when another one was lost', async () => {
  const { pool, accept } = createPool();
  const answers = [pool.query('one'), rowsOf(pool.query('two'))];
  const [first, second] = [await accept(), await accept()];
  const failed = expect(answers[0]).rejects.toThrow('lost');
  await first.answer(lost());
  await failed;
  expect(second.closes).toBe(0);
  await second.answer('still answered');
  expect(await answers[1]).toEqual(['still answered']);
  expect(second.closes).toBe(1);
});

it('replaces no new connection because of an error on an old one', async () => {
  const { pool, accept } = createPool();
  const answers = [pool.query('one'), pool.query('two')];
  const [first, second] = [await accept(), await accept()];
  const failed = Promise.all(answers.map((each) => expect(each).rejects.toThrow('lost')));
  await first.answer(lost());
  first.end();
  const next = rowsOf(pool.query('three'));
  const third = await accept();
  await second.answer(lost());
  await failed;
  await third.answer(3);
  expect(await next).toEqual([3]);
  expect(third.closes).toBe(0);
});

it('ends a statement that takes too long, and closes its connection', async () => {
  const { pool, accept } = createPool({ timeout: 40 });
  const late = expect(pool.query('one')).rejects.toThrow('no answer within 40 ms');
  const connection = await accept();
  await late;
  expect(connection.closes).toBe(1);
});

it('does not use an idle connection that was lost meanwhile', async () => {
  const { pool, accept } = createPool({ max: 1 });
  const first = rowsOf(pool.query('one'));
  const connection = await accept();
  await connection.answer(1);
  await first;
  connection.isOpen = false;
  const second = rowsOf(pool.query('two'));
  await vi.waitFor(() => expect(connection.closes).toBe(1));
  connection.end();
  await (await accept()).answer(2);
  expect(await second).toEqual([2]);
  expect(connection.statements).toEqual(['one']);
});

it('does not keep a connection that was lost during its statement', async () => {
  const { pool, accept } = createPool();
  const first = rowsOf(pool.query('one'));
  const connection = await accept();
  connection.isOpen = false;
  await connection.answer(1);
  expect(await first).toEqual([1]);
  expect(connection.closes).toBe(1);
});

describe.each(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01'])('after %s', (code) => {
  it('runs a statement that can run twice once more', async () => {
    const { pool, accept } = createPool();
    const answer = rowsOf(pool.queryAgain('one'));
    await (await accept()).answer(lost(code));
    const second = await accept();
    await second.answer(1);
    expect(await answer).toEqual([1]);
    expect(second.statements).toEqual(['one']);
  });

  it('runs no other statement again', async () => {
    const { pool, attempts, accept } = createPool();
    const failed = expect(pool.query('one')).rejects.toThrow('lost');
    await (await accept()).answer(lost(code));
    await failed;
    expect(attempts).toHaveLength(1);
  });
});

it('says that a statement was sent twice when its second run fails', async () => {
  const { pool, accept } = createPool();
  const second = serverError('53100');
  const failed = expect(pool.queryAgain('one')).rejects.toMatchObject({
    message: 'the statement was sent twice',
    cause: second,
  });
  await (await accept()).answer(lost());
  await (await accept()).answer(second);
  await failed;
});

it.each([serverError('23505'), new Error('without a code')])(
  'does not run a statement again after another error (%#)',
  async (error) => {
    const { pool, accept } = createPool();
    const failed = expect(pool.queryAgain('one')).rejects.toBe(error);
    const connection = await accept();
    await connection.answer(error);
    await failed;
    expect(connection.statements).toEqual(['one']);
  },
);

it('closes idle connections at once and the others after their statements', async () => {
  const { pool, accept } = createPool();
  const answers = [rowsOf(pool.query('one')), rowsOf(pool.query('two'))];
  const [used, idle] = [await accept(), await accept()];
  await idle.answer('a');
  expect(await answers[1]).toEqual(['a']);
  pool.close();
  expect([used.closes, idle.closes]).toEqual([0, 1]);
  await used.answer('b');
  expect(await answers[0]).toEqual(['b']);
  expect(used.closes).toBe(1);
  await expect(pool.query('three')).rejects.toThrow('the store is closed');
});

it('cancels a statement that takes long when it is closed', async () => {
  const { pool, accept } = createPool();
  const failed = expect(pool.query('one')).rejects.toThrow();
  const second = pool.query('two');
  const [used, idle] = [await accept(), await accept()];
  await idle.answer();
  await second;
  const closed = pool.close();
  await vi.waitFor(() => expect(used.closes).toBe(1));
  expect(idle.closes).toBe(1); // Its session has not ended yet.
  await used.answer(new Error('cancelled'));
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

it('fails the statements that wait when it is closed, and closes a connection that opens then', async () => {
  const { pool, attempts, accept } = createPool();
  const waiting = expect(pool.query('one')).rejects.toThrow('the store is closed');
  await vi.waitFor(() => expect(attempts).toHaveLength(1));
  pool.close();
  await waiting;
  expect((await accept()).closes).toBe(1);
  expect(attempts).toHaveLength(1);
});
