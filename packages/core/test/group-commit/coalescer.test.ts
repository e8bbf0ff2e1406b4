import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { deadlineIn } from '../../src/database/deadline.ts';
import type { Call } from '../../src/database/pool/call.ts';
import { Coalescer } from '../../src/group-commit/coalescer.ts';
import { PlantStoreError } from '../../src/plant-store-error.ts';

type Options = ConstructorParameters<typeof Coalescer<string, string>>[0];
type Calls = Call<string, string>[];

// The tests move the clock by hand.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Makes a coalescer that sends one statement at a time. Each call returns its input. */
function createCoalescer(options: Partial<Options> = {}): Coalescer<string, string> {
  return new Coalescer({
    send: async (calls) => echo(calls),
    late: () => new PlantStoreError('databaseUnavailable', 'late'),
    overloaded: (waiting) => new PlantStoreError('overloaded', `${waiting} wait`),
    maxInFlight: 1,
    ...options,
  });
}

function echo(calls: Calls): void {
  for (const call of calls) call.resolve(call.input);
}

/** Returns a `send` function that records the calls of each statement. */
function recording(sent: string[][], send: Options['send'] = async (calls) => echo(calls)) {
  return (calls: Calls) => {
    sent.push(calls.map(({ input }) => input));
    return send(calls);
  };
}

const sizesOf = (sent: string[][]) => sent.map(({ length }) => length);

/** Returns a `send` function whose statements take the given number of milliseconds. */
function withLatency(latencyOf: (statement: number) => number): Options['send'] {
  let statements = 0;
  return async (calls) => {
    await new Promise((resolve) => setTimeout(resolve, latencyOf(++statements)));
    echo(calls);
  };
}

/** Returns a `send` function. The first statement runs until the test calls `end`. */
function hangingAtFirst() {
  const hung = Promise.withResolvers<void>();
  const sent: string[][] = [];
  const send = recording(sent, async (calls) => {
    if (sent.length === 1) await hung.promise;
    echo(calls);
  });
  return { send, sent, end: hung.resolve };
}

const inputs = (count: number) => Array.from({ length: count }, (_, i) => `input ${i}`);

/** Makes many calls at the same time, and counts the outcomes of each kind. */
async function countOutcomes(coalescer: Coalescer<string, string>, count: number) {
  const outcomes: Record<string, number> = { done: 0 };
  for (const outcome of await Promise.allSettled(
    inputs(count).map((each) => coalescer.run(each)),
  )) {
    const kind = outcome.status === 'fulfilled' ? 'done' : outcome.reason.kind;
    outcomes[kind] = (outcomes[kind] ?? 0) + 1;
  }
  return outcomes;
}

it('sends the first call immediately, and sends the later calls in statements of up to `maxBatch` calls', async () => {
  const sent: string[][] = [];
  const coalescer = createCoalescer({ send: recording(sent), maxBatch: 100 });
  const outputs = await Promise.all(inputs(250).map((input) => coalescer.run(input)));
  expect(outputs).toEqual(inputs(250));
  expect(sizesOf(sent)).toEqual([1, 100, 100, 49]);
});

it('sends a second statement when enough calls wait or when the first statement is slow', async () => {
  const { send, sent, end } = hangingAtFirst();
  const coalescer = createCoalescer({ send, maxInFlight: 2, maxBatch: 10 });
  const [slow, ...others] = inputs(16).map((input) => coalescer.run(input));
  await vi.advanceTimersByTimeAsync(50);
  await Promise.all(others);
  expect(sizesOf(sent)).toEqual([1, 10, 5]);
  end();
  expect(await slow).toBe('input 0');
});

it('sends no second statement while the first statement may be committing', async () => {
  const { send, sent, end } = hangingAtFirst();
  let mayCommit = true;
  const coalescer = createCoalescer({
    send,
    maxInFlight: 2,
    maxBatch: 10,
    maxSlowBatch: 100,
    mayCommit: async () => mayCommit,
  });
  const slow = coalescer.run('slow');
  await vi.advanceTimersByTimeAsync(60);
  const waiting = inputs(50).map((input) => coalescer.run(input));
  await vi.advanceTimersByTimeAsync(20);
  expect(sent).toHaveLength(1);
  mayCommit = false;
  await vi.advanceTimersByTimeAsync(100);
  await Promise.all(waiting);
  expect(sizesOf(sent)).toEqual([1, 10, 10, 10, 10, 10]);
  mayCommit = true;
  end();
  await slow;
});

it('sends no new statement while a slow statement is committing', async () => {
  const sent: string[][] = [];
  const ends: (() => void)[] = [];
  let mayCommit = false;
  const coalescer = createCoalescer({
    send: recording(sent, async (calls) => {
      await new Promise<void>((resolve) => ends.push(resolve));
      echo(calls);
    }),
    maxInFlight: 2,
    mayCommit: async () => mayCommit,
  });
  const slow = coalescer.run('slow');
  const second = coalescer.run('second');
  await vi.advanceTimersByTimeAsync(50);
  expect(sent).toEqual([['slow'], ['second']]);
  mayCommit = true;
  // Within 100 ms, the coalescer asks again whether the slow statement is committing.
  await vi.advanceTimersByTimeAsync(100);
  ends[1]?.();
  await second;
  const third = coalescer.run('third');
  await vi.advanceTimersByTimeAsync(20);
  expect(sent).toHaveLength(2);
  ends[0]?.();
  await slow;
  await vi.advanceTimersByTimeAsync(0);
  expect(sent[2]).toEqual(['third']);
  ends[2]?.();
  await third;
});

it('rejects a call immediately when a call would be late after two more slow commits', async () => {
  const sent: string[][] = [];
  const send = withLatency(() => 3_000);
  const coalescer = createCoalescer({ send: recording(sent, send), mayCommit: async () => true });
  const first = coalescer.run('first');
  // The coalescer sends this call, because after one slow commit, the next commit may be fast.
  const second = expect(coalescer.run('second')).rejects.toThrow('late');
  await vi.advanceTimersByTimeAsync(3_001);
  const third = expect(coalescer.run('third')).rejects.toMatchObject({ kind: 'overloaded' });
  await vi.advanceTimersByTimeAsync(2_000);
  const fourth = coalescer.run('fourth');
  await vi.advanceTimersByTimeAsync(4_000);
  expect(await Promise.all([first, fourth])).toEqual(['first', 'fourth']);
  await Promise.all([second, third]);
  const past = await coalescer.runAll(['past', 'past'], { deadline: performance.now() - 1 });
  expect(past).toMatchObject(Array(2).fill({ reason: { message: 'late' } }));
  expect(sent).toEqual([['first'], ['second'], ['fourth']]);
});

it('estimates the duration of the next commit as the duration of the fastest of the last four slow commits', async () => {
  const latencies = [2_000, 4_000, 4_000];
  const send = withLatency((statement) => latencies[statement - 1] ?? 2_000);
  const coalescer = createCoalescer({ send, mayCommit: async () => true });
  const run = (input: string) =>
    coalescer.run(input).catch((error: PlantStoreError) => error.message);
  const outcomes = [run('first')];
  for (const latency of latencies) {
    await vi.advanceTimersByTimeAsync(latency - 1_500);
    outcomes.push(run('early'));
    await vi.advanceTimersByTimeAsync(1_400);
    outcomes.push(run('after it'));
    await vi.advanceTimersByTimeAsync(100);
  }
  await vi.advanceTimersByTimeAsync(2_000);
  const expected = ['first', 'late', 'after it', 'late', 'after it', 'early', 'after it'];
  expect(await Promise.all(outcomes)).toEqual(expected);
});

it('tests the database with single calls while every commit takes longer than the time limit of a call', async () => {
  const sent: string[][] = [];
  const send = withLatency((statement) => (statement < 4 ? 6_000 : 5));
  const coalescer = createCoalescer({ send: recording(sent, send), mayCommit: async () => true });
  const run = (input: string) => coalescer.run(input).catch((error: PlantStoreError) => error.kind);
  const outcomes = [run('a')];
  for (const pair of [
    ['b', 'c'],
    ['d', 'e'],
    ['f', 'g'],
  ]) {
    await vi.advanceTimersByTimeAsync(5_500);
    outcomes.push(...pair.map(run));
    await vi.advanceTimersByTimeAsync(500);
  }
  await vi.advanceTimersByTimeAsync(100);
  const [late, over] = ['databaseUnavailable', 'overloaded'];
  expect(await Promise.all(outcomes)).toEqual([late, late, late, over, late, over, 'g']);
  expect(sent).toEqual([['a'], ['b', 'c'], ['e'], ['g']]);
  const next = run('h');
  await vi.advanceTimersByTimeAsync(5);
  expect(await next).toBe('h');
});

it('rejects a call at its deadline, and does not send the call later', async () => {
  const { send, sent, end } = hangingAtFirst();
  const coalescer = createCoalescer({ send });
  const options = { deadline: deadlineIn(50) };
  const late = Promise.allSettled(
    ['sent', 'waiting', 'waiting, too'].map((each) => coalescer.run(each, options)),
  );
  await vi.advanceTimersByTimeAsync(50);
  expect(await late).toMatchObject(Array(3).fill({ reason: { message: 'late' } }));
  expect(coalescer.pending).toEqual({ waiting: 0, inFlight: 1 });
  const next = coalescer.run('next');
  end();
  expect(await next).toBe('next');
  expect(sent).toEqual([['sent'], ['next']]);
});

it('never sends a call whose caller has disconnected', async () => {
  const { send, sent, end } = hangingAtFirst();
  const coalescer = createCoalescer({ send, maxBatch: 2 });
  const caller = { isGone: false };
  const first = coalescer.run('first', { caller });
  const dropped = ['a', 'b', 'c'].map((each) =>
    expect(coalescer.run(each, { caller })).rejects.toMatchObject({
      cause: { name: 'CallerDisconnectedError' },
    }),
  );
  const others = ['d', 'e', 'f'].map((each) => coalescer.run(each));
  caller.isGone = true;
  end();
  await Promise.all(dropped);
  expect(await first).toBe('first');
  expect(await Promise.all(others)).toEqual(['d', 'e', 'f']);
  expect(sent).toEqual([['first'], ['d', 'e'], ['f']]);
});

it('accepts a call into a full queue when the caller of a waiting call has disconnected', async () => {
  const { send, end } = hangingAtFirst();
  const coalescer = createCoalescer({ send });
  const caller = { isGone: false };
  const first = coalescer.run('first');
  const dropped = expect(coalescer.run('a', { caller })).rejects.toThrow('disconnected');
  const waiting = coalescer.runAll(inputs(9_999));
  caller.isGone = true;
  const next = coalescer.run('b');
  await dropped;
  await expect(coalescer.run('c')).rejects.toThrow('10000 wait');
  end();
  expect(await Promise.all([first, next])).toEqual(['first', 'b']);
  expect(await waiting).toEqual(inputs(9_999).map((value) => ({ status: 'fulfilled', value })));
});

it('resolves `drained` at the deadline even when a statement never returns', async () => {
  const coalescer = createCoalescer({ send: () => new Promise(() => {}) });
  const call = coalescer.run('x', { deadline: deadlineIn(20) });
  const ended = Promise.all([expect(call).rejects.toThrow('late'), coalescer.drained()]);
  await vi.advanceTimersByTimeAsync(20);
  await ended;
});

it('rejects the calls that two parallel statements could not settle before the deadline', async () => {
  const coalescer = createCoalescer({
    send: withLatency(() => 400),
    maxInFlight: 2,
    maxBatch: 10,
  });
  for (let i = 0; i < 30; i++) {
    void countOutcomes(coalescer, 20);
    await vi.advanceTimersByTimeAsync(400);
  }
  const overload = countOutcomes(coalescer, 1_000);
  await vi.advanceTimersByTimeAsync(5_000);
  // The coalescer sends 10 calls immediately. The statements of the next 180 calls begin within 4 s.
  expect(await overload).toEqual({ done: 190, overloaded: 810 });
});

it.each([
  { latencies: [800], average: 100, accepted: 390 },
  { latencies: [800, 1_700], average: 300, accepted: 120 },
])(
  'expects a statement to take $average ms after statements of $latencies ms',
  async ({ latencies, accepted }) => {
    const coalescer = createCoalescer({
      send: withLatency((statement) => latencies[statement - 1] ?? 10_000),
      maxBatch: 10,
    });
    void countOutcomes(coalescer, 31);
    for (const latency of latencies) await vi.advanceTimersByTimeAsync(latency);
    void countOutcomes(coalescer, 1_000);
    expect(coalescer.pending.waiting).toBe(accepted);
    await vi.advanceTimersByTimeAsync(10_000);
  },
);

it('stops rejecting calls when a slow database is fast again', async () => {
  let latency = 1_000;
  const coalescer = createCoalescer({ send: withLatency(() => latency) });
  const overload = countOutcomes(coalescer, 5_000);
  await vi.advanceTimersByTimeAsync(3_500);
  expect(await countOutcomes(coalescer, 1)).toEqual({ done: 0, overloaded: 1 });
  await vi.advanceTimersByTimeAsync(5_000);
  await overload;

  latency = 5;
  const after = countOutcomes(coalescer, 1_000);
  await vi.advanceTimersByTimeAsync(100);
  expect(await after).toEqual({ done: 1_000 });
});

it('sends full statements even when a statement takes half of the time limit of a call', async () => {
  const sent: string[][] = [];
  const coalescer = createCoalescer({
    send: recording(
      sent,
      withLatency(() => 2_400),
    ),
  });
  for (let i = 0; i < 50; i++) {
    void countOutcomes(coalescer, 200);
    await vi.advanceTimersByTimeAsync(1_200);
  }
  expect(sizesOf(sent)).toEqual([1, ...Array(sent.length - 1).fill(128)]);
  expect(sent.length).toBeGreaterThan(20);
});

it('leaves at most one timer behind when every call is settled', async () => {
  const coalescer = createCoalescer({ send: withLatency(() => 10), maxInFlight: 2 });
  const outcomes = countOutcomes(coalescer, 200);
  const together = coalescer.runAll(inputs(200));
  await vi.advanceTimersByTimeAsync(40);
  expect(await outcomes).toEqual({ done: 200 });
  expect(await together).toHaveLength(200);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(vi.getTimerCount()).toBe(0);
});

const million = 'x'.repeat(2 ** 20);
const byLength = { lengthOf: ({ length }: string) => length };

it('adds no further call to a statement that has more than a million characters', async () => {
  const sent: string[][] = [];
  const coalescer = createCoalescer({ send: recording(sent), ...byLength });
  const long = Array.from({ length: 6 }, () => 'x'.repeat(400_000));
  await Promise.all(long.map((input) => coalescer.run(input)));
  expect(sizesOf(sent)).toEqual([1, 3, 2]);
});

it('sends a second statement when the text of the waiting calls reaches the maximum length', async () => {
  const { send, sent, end } = hangingAtFirst();
  const coalescer = createCoalescer({ send, maxInFlight: 2, ...byLength });
  const slow = coalescer.run('slow');
  const waiting = coalescer.run(million.slice(1));
  expect(sent).toHaveLength(1);
  await Promise.all([coalescer.run('x'), waiting]);
  expect(sizesOf(sent)).toEqual([1, 2]);
  end();
  await slow;
});

it('applies `maxWait` to calls in the queue, and not to calls that are already sent', async () => {
  const { send, sent, end } = hangingAtFirst();
  const coalescer = createCoalescer({ send, maxWait: 0.001 });
  const first = coalescer.run('first', { deadline: deadlineIn(60_000) });
  const second = coalescer.run('second', { deadline: deadlineIn(60_000) });
  const late = expect(second).rejects.toThrow('late');
  await vi.advanceTimersByTimeAsync(60);
  await late;
  end();
  expect(await first).toBe('first');
  expect(sent).toEqual([['first']]);
});
