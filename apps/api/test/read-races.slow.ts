import { openPlantStore } from '@plant-store/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, callers, type Outcome } from './fixtures/callers.ts';
import { type RunningServer, startServer, startServerOn } from './fixtures/running-server.ts';
import { databases } from './fixtures/surfaces.ts';

interface Call {
  procedure: 'createPlant' | 'deletePlant';
  name?: string;
  startedAt: number;
  endedAt: number;
  outcome: Outcome;
}

describe.each(databases)('on %s', (database) => {
  let server: RunningServer;
  /** The URLs of the instances. There is one instance on PGlite, and there are two instances on Postgres. */
  let urls: string[];
  let stop: () => Promise<void>;

  beforeAll(async () => {
    server = await startServer(database);
    urls = [server.url];
    stop = server.stop;
    if (server.databaseUrl === undefined) return;
    const store = await openPlantStore({ databaseUrl: server.databaseUrl });
    const second = await startServerOn(store);
    urls.push(second.url);
    stop = async () => {
      await second.stop();
      await store.close();
      await server.stop();
    };
  });

  afterAll(() => stop());

  it('20 clients create and delete one id, and some order of their calls explains all outcomes', async () => {
    for (let id = 0; id < 15; id++) {
      const clients = Array.from({ length: 20 }, (_, i) => client(id, i));
      const calls = (await Promise.all(clients)).flat();
      const [stored] = await read(id);
      for (const { outcome } of calls) expect([200, 204, 404, 409]).toContain(outcome.status);
      expect(explains(calls, stored?.name)).toBe(true);
    }
  });

  it('a delete removes a plant whose create has ended before the delete begins', async () => {
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const id = 1000 + i;
        const send = (procedure: Call['procedure'], name?: string) =>
          callerAt(i).call(targetAt(i + id), procedure, { id, ...(name && { name }) });
        expect(await send('createPlant', 'first')).toMatchObject({ status: 200 });
        expect(await send('deletePlant')).not.toHaveProperty('error');
        expect(await read(id)).toEqual([]);
        expect(await send('createPlant', 'second')).toMatchObject({ status: 200 });
        expect(await read(id)).toMatchObject([{ name: 'second' }]);
      }),
    );
  });

  const callerAt = (i: number) => callers[i % callers.length] as Caller; // The index is in range.
  const targetAt = (i: number) => ({ url: urls[i % urls.length] ?? '', token: server.token });

  async function read(id: number) {
    const outcome = await callerAt(0).call(targetAt(0), 'getPlant', { id });
    return outcome.output ? [outcome.output as { name: string }] : [];
  }

  /** Sends three calls for one id, one after another. */
  async function client(id: number, i: number): Promise<Call[]> {
    const done: Call[] = [];
    for (let step = 0; step < 3; step++) {
      const isDelete = (i + step) % 3 === 0;
      const procedure = isDelete ? 'deletePlant' : 'createPlant';
      const name = isDelete ? undefined : `name ${i % 3}`;
      const startedAt = performance.now();
      const outcome = await callerAt(i).call(targetAt(i + step), procedure, {
        id,
        ...(name && { name }),
      });
      done.push({
        procedure,
        ...(name && { name }),
        startedAt,
        endedAt: performance.now(),
        outcome,
      });
    }
    return done;
  }
});

it('`explains` rejects two plants with one id, and a missing plant that no client has deleted', () => {
  const result = (status: number, error?: number): Outcome => ({
    status,
    headers: new Headers(),
    ...(error !== undefined && { error }),
  });
  const create = (name: string, startedAt: number): Call => ({
    ...{ procedure: 'createPlant', name, startedAt, endedAt: startedAt + 2 },
    outcome: result(200),
  });
  const missing: Call = {
    ...{ procedure: 'deletePlant', startedAt: 5, endedAt: 6 },
    outcome: result(404, 40401),
  };
  expect(explains([create('a', 0), create('a', 1)], 'a')).toBe(true);
  expect(explains([create('a', 0), create('b', 1)], 'a')).toBe(false);
  expect(explains([create('a', 0)], undefined)).toBe(false);
  expect(explains([create('a', 0), missing], 'a')).toBe(false);
  expect(explains([create('a', 4), missing], 'a')).toBe(true);
});

/**
 * Returns whether some order of the calls explains their outcomes and the name `final` of the stored
 * plant. Without a stored plant, `final` is undefined. Each call runs at one moment between its start and
 * its end.
 */
function explains(calls: readonly Call[], final: string | undefined): boolean {
  const seen = new Set<string>();
  return search(calls, undefined);

  function search(rest: readonly Call[], stored: string | undefined): boolean {
    if (rest.length === 0) return stored === final;
    const key = `${rest.map((call) => calls.indexOf(call))}|${stored}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return candidates(rest, stored).some((call) => {
      const { after } = effectOf(call);
      return search(
        rest.filter((each) => each !== call),
        after === undefined ? stored : after.stored,
      );
    });
  }
}

/**
 * Returns the calls that may be next in the order. A call without an effect is always next, because it
 * restricts no later call. Calls with the same effect can change places, so only the call that ended
 * first may be next.
 */
function candidates(rest: readonly Call[], stored: string | undefined): Call[] {
  const firstEnd = Math.min(...rest.map(({ endedAt }) => endedAt));
  const fitting = rest
    .filter(({ startedAt }) => startedAt <= firstEnd)
    .filter((call) => effectOf(call).fits(stored))
    .toSorted((a, b) => a.endedAt - b.endedAt);
  const harmless = fitting.find((call) => effectOf(call).after === undefined);
  if (harmless) return [harmless];
  const byEffect = new Map(fitting.toReversed().map((call) => [call.name, call]));
  return [...byEffect.values()];
}

/**
 * Returns a function that tells whether a call has its outcome in a given state. Also returns the state
 * `after` the call, or undefined when the call changes nothing.
 */
function effectOf({ procedure, name, outcome }: Call) {
  const isError = outcome.error !== undefined;
  if (procedure === 'deletePlant') {
    const fits = (stored: string | undefined) => isError === (stored === undefined);
    return { fits, after: isError ? undefined : { stored: undefined } };
  }
  const fits = (stored: string | undefined) =>
    isError ? stored !== undefined && stored !== name : stored === undefined || stored === name;
  return { fits, after: isError ? undefined : { stored: name } };
}
