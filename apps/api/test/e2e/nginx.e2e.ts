import { createDatabase, freePort, hasPosixSignals } from '@plant-store/test-setup';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { type Caller, callers, type Outcome } from '../fixtures/callers.ts';
import {
  type EventSurface,
  eventSurfaces,
  followEvents,
  requestEvents,
} from '../fixtures/event-surfaces.ts';
import { hasNginx, startNginx } from '../fixtures/nginx.ts';
import { serve, stopProgram } from '../fixtures/program.ts';
import { share, startServer, token } from '../fixtures/server.ts';
import { post } from '../fixtures/surfaces.ts';

const [rest] = callers;

describe.runIf(hasNginx)('nginx with docs/nginx.conf', () => {
  const nginx = share(async () => {
    const server = await startServer({ PLANT_STORE_TRUST_PROXY: '127.0.0.1' });
    const started = await startNginx([server.url]);
    return {
      ...started,
      async stop() {
        await started.stop();
        await server.stop();
      },
    };
  });

  it.each(['', '/store'])('forwards every operation under the path prefix %j', async (prefix) => {
    const target = { url: nginx.url + prefix, token };
    for (const { call } of callers) {
      const plant = { id: 5n, name: 'Hoya' };
      expect((await call(target, 'createPlant', plant)).output).toEqual({ name: 'Hoya' });
      expect((await call(target, 'createPlant', { ...plant, name: 'x' })).error).toBe(40900);
      expect((await call(target, 'getPlant', { id: 5n })).output).toMatchObject(plant);
      expect((await call(target, 'listPlants', {})).output).toMatchObject({ plants: [plant] });
      expect((await call(target, 'deletePlant', { id: 5n })).error).toBeUndefined();
      expect((await call(target, 'deletePlant', { id: 5n })).error).toBe(40401);
    }
  });

  it('gives each response a request id', async () => {
    const response = await post({ url: nginx.url, token }, '/plants', '{"id":1,"name":"x"}');
    expect(response.headers.get('x-request-id')).toMatch(/^[\da-f]{32}$/);
  });

  it.each(eventSurfaces)('forwards each event of $name at once', async (surface) => {
    const target = { url: `${nginx.url}/store`, token };
    const { received, changes } = await followEvents(surface, target);
    await vi.waitFor(() => expect(received()).toMatch(/^id: /m));
    await rest.call(target, 'createPlant', { id: 6n, name: 'Pilea' });
    await vi.waitFor(() => expect(changes()).toEqual([['created', '6']]));
    await rest.call(target, 'deletePlant', { id: 6n });
  });

  it('sends its own errors in the form of the contract', async () => {
    const body = 'a'.repeat(1_100_000);
    const large = await fetch(`${nginx.url}/plants`, { method: 'POST', body });
    expect([large.status, await large.json()]).toMatchObject([413, { error: 41300 }]);
    const long = await fetch(`${nginx.url}/${'a'.repeat(20_000)}`);
    expect([long.status, await long.json()]).toMatchObject([431, { error: 43100 }]);
    const nowhere = await startNginx([`http://127.0.0.1:${await freePort()}`]);
    onTestFinished(nowhere.stop);
    const down = await fetch(`${nowhere.url}/plants`);
    expect([down.status, await down.json()]).toMatchObject([503, { error: 50300 }]);
    expect(down.headers.get('retry-after')).toMatch(/^\d+$/);
  });
});

it.runIf(hasNginx && hasPosixSignals)(
  'no request of any kind fails during a rolling restart behind nginx',
  async () => {
    const DATABASE_URL = await createDatabase(inject('postgresUrl'));
    const start = async (port: number) => {
      const program = await serve({
        DATABASE_URL,
        PORT: String(port),
        PLANT_STORE_DRAIN_DELAY_MS: '1000', // This drain delay is the default of the server outside tests.
      });
      const ready = async () => (await fetch(`${program.url}/readyz`)).status;
      await expect.poll(ready).toBe(200);
      return program;
    };
    const ports = [await freePort(), await freePort()];
    const programs = await Promise.all(ports.map(start));
    const nginx = await startNginx(ports.map((port) => `http://127.0.0.1:${port}`));
    onTestFinished(nginx.stop);

    let isOver = false;
    const errors: unknown[] = [];
    const check = async (request: Promise<Outcome | Response>) => {
      const outcome = await request.catch(String);
      if (![200, 204].includes(Object(outcome).status)) errors.push(outcome);
      return Object(outcome);
    };
    /** Resolves with the number of created plants. Each client has its own ids. */
    const runClient = async ({ call }: Caller, firstId: number) => {
      const target = { url: nginx.url, token };
      let id = firstId;
      for (; !isOver; id++) {
        await check(call(target, 'createPlant', { id, name: 'Hoya' }));
        await check(call(target, 'getPlant', { id }));
        await check(call(target, 'listPlants', { limit: 1 }));
        await check(call(target, 'deletePlant', { id }));
      }
      return id - firstId;
    };
    const follow = async ({ call }: Caller) => {
      let cursor = {};
      while (!isOver) {
        const target = { url: nginx.url, token };
        const { output } = await check(call(target, 'listPlantChanges', { wait: 1, ...cursor }));
        if (output) cursor = { after: output.next };
      }
    };
    const listen = async (surface: EventSurface) => {
      const read = async () => {
        const response = await requestEvents(surface, { url: nginx.url, token });
        await response.text(); // A stream ends when its instance stops.
        return response;
      };
      while (!isOver) await check(read());
    };
    const clients = [1, 2, 3].flatMap((client) =>
      callers.map((caller, i) => runClient(caller, 1e6 * (2 * client + i))),
    );
    const readers = [...callers.map(follow), ...eventSurfaces.map(listen)];
    for (const [i, program] of programs.entries()) {
      expect(await stopProgram(program)).toBe(0);
      programs[i] = await start(ports[i] ?? 0);
    }
    isOver = true;
    const created = await Promise.all(clients);
    await Promise.all(programs.map(stopProgram));
    await Promise.all(readers);
    expect(errors).toEqual([]);
    expect(Math.min(...created)).toBeGreaterThan(1);
  },
);
