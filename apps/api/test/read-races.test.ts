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
  /** Addresses of the instances: one on PGlite, two on Postgres. */
  let urls: string[];
  let stop: () => Promise<void>;

  beforeAll(async () => {
    server = await startServer(database);
    urls = [server.url];
    stop = async () => void (await server.stop());
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

  it('creates, retries and deletes of one id by 20 clients end in a state that some order explains', async () => {
    for (let id = 0; id < 15; id++) {
      const clients = Array.from({ length: 20 }, (_, i) => client(id, i));
      const calls = (await Promise.all(clients)).flat();
      const [stored] = await read(id);
      for (const { outcome } of calls) expect([200, 204, 404, 409]).toContain(outcome.status);
      expect(explains(calls, stored?.name)).toBe(true);
    }
  });

  it('a create that was answered before the delete began is gone after it', async () => {
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

  /** Sends three calls of one id, one after the other. */
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

/**
 * Whether the calls could have run one after the other, each between its start and its end, with
 * these outcomes, and leave the plant `final` (undefined when there is none).
 */
function explains(calls: readonly Call[], final: string | undefined): boolean {
  const seen = new Set<string>();
  return search(calls, undefined);

  function search(rest: readonly Call[], stored: string | undefined): boolean {
    if (rest.length === 0) return stored === final;
    const key = `${rest.map((call) => calls.indexOf(call))}|${stored}`;
    if (seen.has(key)) return false;
    seen.add(key);
    const firstEnd = Math.min(...rest.map(({ endedAt }) => endedAt));
    const next = rest.filter(({ startedAt }) => startedAt <= firstEnd);
    return next.some((call) => {
      const after = apply(call, stored);
      return (
        after !== false &&
        search(
          rest.filter((each) => each !== call),
          after.stored,
        )
      );
    });
  }
}

/** The state after a call; false when its outcome does not fit the state before. */
function apply({ procedure, name, outcome }: Call, stored: string | undefined) {
  if (procedure === 'deletePlant') {
    const fits = (outcome.error === undefined) === (stored !== undefined);
    return fits && { stored: undefined };
  }
  const fits = (outcome.error === undefined) === (stored === undefined || stored === name);
  return fits && { stored: stored ?? name };
}
