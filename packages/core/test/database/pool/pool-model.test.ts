import { setImmediate, setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { callerDisconnected } from '../../../src/database/pool/call.ts';
import { createPool, lost, serverError, TestConnection } from '../../fixtures/test-pool.ts';

interface Statement {
  readonly text: string;
  readonly turns: Turns;
  readonly caller: { isGone: boolean } | undefined;
  readonly isRepeatable: boolean;
  connection?: TestConnection | undefined;
  /** The outcome that the model predicts. */
  expected?: unknown;
  /** The outcome that the pool gives. */
  outcome?: unknown;
}

/** The statements of one kind. Active statements may use a connection. Waiting statements are in a queue. */
interface Turns {
  max: number;
  active: Statement[];
  waiting: Statement[];
}

const maxWaiting = 3;
const overloaded = {
  kind: 'overloaded',
  code: 50301,
  message:
    'too many such requests are waiting already: nothing was written, send the request again later',
};
const disconnected = callerDisconnected();
const lostCodes = ['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01'];

/** Makes a pool and a model of the pool. The model predicts the outcome of each statement. */
function createModel() {
  const creates: Turns = { max: 2, active: [], waiting: [] };
  const lists: Turns = { max: 1, active: [], waiting: [] };
  const shares = { creates: creates.max, lists: lists.max };
  const { pool, attempts, run, accept, fail } = createPool({ shares, maxWaiting, retryDelay: 0 });
  const statements: Statement[] = [];
  const connections: TestConnection[] = [];
  /** The connections that must not run another statement. */
  const old = new Set<TestConnection>();
  /** The connections whose session has ended. */
  const ended = new Set<TestConnection>();
  /** The statements that waited for a connection when an attempt to connect failed. */
  const failed = new Set<Statement>();
  let endedAttempts = 0;
  let lastFailed = 0;
  let isAttemptOld = false;
  let isClosed = false;

  const active = () => [...creates.active, ...lists.active];
  const unsent = () => active().filter(({ connection }) => !connection);
  const sent = () => active().filter(({ connection }) => connection);
  const isBusy = (connection: TestConnection) =>
    sent().some((each) => each.connection === connection);
  const isUsable = (connection: TestConnection) => !old.has(connection) && !ended.has(connection);
  const isConnecting = () => attempts.length > endedAttempts;
  const open = () => connections.filter((each) => each.closes === 0 || !ended.has(each));
  const mustConnect = () => unsent().length > 0 && open().length < creates.max + lists.max;

  /** Makes a statement active, or puts it into the queue. */
  function begin(statement: Statement): void {
    const { turns } = statement;
    failed.delete(statement);
    if (turns.active.length < turns.max) return void turns.active.push(statement);
    if (turns.waiting.length === maxWaiting) {
      const gone = turns.waiting.filter(({ caller }) => caller?.isGone);
      for (const each of gone) each.expected = disconnected;
      turns.waiting = turns.waiting.filter(({ caller }) => !caller?.isGone);
    }
    if (turns.waiting.length < maxWaiting) turns.waiting.push(statement);
    else statement.expected = expect.objectContaining(overloaded);
  }

  function giveTurns(turns: Turns): void {
    while (turns.active.length < turns.max) {
      const next = turns.waiting.shift();
      if (!next) return;
      if (next.caller?.isGone) next.expected = disconnected;
      else turns.active.push(next);
    }
  }

  function end(statement: Statement, expected?: unknown): void {
    statement.expected = expected;
    statement.connection = undefined;
    statement.turns.active = statement.turns.active.filter((each) => each !== statement);
    giveTurns(statement.turns);
  }

  function replaceAll(): void {
    for (const each of connections) old.add(each);
    isAttemptOld = isConnecting();
  }

  /** Ends the unsent statements if the pool is closed, or if an attempt failed and no connection is left. */
  function endUnsent(): void {
    const hasConnection = connections.some(
      (each) => !old.has(each) && (isBusy(each) || !ended.has(each)),
    );
    for (const each of unsent()) {
      if (isClosed) end(each, notSent('the store is closed'));
      else if (failed.has(each) && !hasConnection) end(each, notSent(`attempt ${lastFailed}`));
    }
    if (isClosed && unsent().length > 0) endUnsent();
  }

  /** Waits for the pool, and compares the pool with the model. */
  async function compare(): Promise<void> {
    endUnsent();
    for (let left = 1_000; left > 0; left--) {
      await setImmediate();
      if (!mustConnect() || isConnecting()) break;
      await setTimeout(1);
    }
    expect(mustConnect() && !isConnecting(), 'a statement waits for an attempt').toBe(false);
    for (const { text, outcome, expected } of statements) expect(outcome, text).toEqual(expected);
    const connecting = attempts.length - endedAttempts;
    expect(connecting).toBeLessThanOrEqual(1);
    expect(open().length + connecting).toBeLessThanOrEqual(creates.max + lists.max);
    for (const each of connections) {
      // A closed pool waits for busy connections for some time, and then closes these connections, too.
      if (old.has(each) && isClosed)
        expect(each.closes).toBeGreaterThanOrEqual(isBusy(each) ? 0 : 1);
      else if (old.has(each)) expect(each.closes).toBe(isBusy(each) ? 0 : 1);
      else if (!ended.has(each)) expect(each.closes).toBe(0);
    }
    // A statement waits only while every connection is busy.
    if (unsent().length > 0) expect(connections.filter(isUsable).every(isBusy)).toBe(true);
  }

  /** Makes a connection that reports each of its statements to the model. */
  function newConnection(): TestConnection {
    const connection = new TestConnection();
    const { query } = connection;
    connection.query = (text, values) => {
      const statement = unsent().find((each) => each.text === text);
      expect(statement, `${text} has a turn and no connection`).toBeDefined();
      expect(isUsable(connection) && !isBusy(connection), `${text} has a usable connection`).toBe(
        true,
      );
      Object.assign(statement ?? {}, { connection });
      return query.call(connection, text, values);
    };
    return connection;
  }

  /** The steps of a test. The number `which` selects a connection or a statement. */
  const steps: Record<string, (which: number) => unknown> = {
    run(which) {
      const share = which % 3 === 0 ? 'lists' : 'creates';
      const turns = share === 'lists' ? lists : creates;
      const isRepeatable = which % 2 === 0;
      const caller = which % 5 === 0 ? undefined : { isGone: false };
      const text = `statement ${statements.length}`;
      const statement: Statement = { text, turns, caller, isRepeatable };
      statements.push(statement);
      begin(statement);
      void run(text, { share, isRepeatable, caller })
        .then(({ rows }) => rows[0])
        .catch((error: unknown) => error)
        .then((outcome) => Object.assign(statement, { outcome }));
    },
    async accept() {
      if (!isConnecting()) return;
      const connection = newConnection();
      connections.push(connection);
      if (isAttemptOld) old.add(connection);
      isAttemptOld = false;
      endedAttempts++;
      await accept(connection);
    },
    async fail() {
      if (!isConnecting()) return;
      endedAttempts++;
      isAttemptOld = false;
      lastFailed = endedAttempts;
      for (const each of unsent()) failed.add(each);
      await fail(new Error(`attempt ${lastFailed}`));
    },
    async settle(which) {
      const statement = pick(sent(), which);
      const connection = statement?.connection;
      if (!statement || !connection) return;
      const { text } = statement;
      const replacing = [...lostCodes.map(lost), serverError('25006'), new Error(text)];
      const outcomes = [...replacing, serverError('23505'), `row of ${text}`, `row of ${text}`];
      const outcome = outcomes[which % outcomes.length];
      if (which % outcomes.length < replacing.length && !old.has(connection)) replaceAll();
      const isAgain = which % outcomes.length < lostCodes.length && statement.isRepeatable;
      end(statement, isAgain ? undefined : outcome);
      if (isAgain) begin(Object.assign(statement, { isRepeatable: false }));
      await connection.settle(outcome);
    },
    /** The server ends the session of a connection. */
    lose(which) {
      const connection = pick(
        connections.filter((each) => !ended.has(each)),
        which,
      );
      if (!connection) return;
      ended.add(connection);
      connection.end();
    },
    /** The caller of a statement disconnects. */
    leave(which) {
      const statement = pick(statements, which);
      if (statement?.caller) statement.caller.isGone = true;
    },
    replaceAll() {
      if (unsent().some((each) => failed.has(each))) return;
      replaceAll();
      pool.replaceAll();
    },
    resize(which) {
      if (which > 5) return;
      lists.max += 2;
      giveTurns(lists);
      pool.resize('lists', 2);
    },
    close(which) {
      if (which > 0) return;
      isClosed = true;
      replaceAll();
      void pool.close();
    },
  };

  return {
    names: Object.keys(steps),
    async take(name: string, which: number) {
      await steps[name]?.(which);
      await compare();
    },
  };
}

const pick = <T>(all: readonly T[], which: number): T | undefined => all[which % all.length];

const notSent = (message: string) =>
  expect.objectContaining({
    name: 'NotSentError',
    message,
    cause: expect.objectContaining({ message }),
  });

it('gives each statement the outcome that the model predicts, for any order of events', async () => {
  const names = [...createModel().names, ...Array(4).fill(['run', 'accept', 'settle']).flat()];
  const step = fc.tuple(fc.constantFrom(...names), fc.nat(17));
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }),
      async (steps) => {
        const model = createModel();
        for (const [name, which] of steps) await model.take(name, which);
      },
    ),
    { numRuns: 150 },
  );
});
