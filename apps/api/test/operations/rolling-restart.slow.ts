import { createDatabase, freePort, hasPosixSignals } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';
import { type Caller, callers, type Outcome } from '../fixtures/callers.ts';
import { type EventSurface, eventSurfaces, requestEvents } from '../fixtures/event-surfaces.ts';
import { serve, stopProgram, token } from '../fixtures/program.ts';
import { hasNginx, startNginx } from './start-nginx.ts';

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
    const urls = ports.map((port) => `http://127.0.0.1:${port}`);
    // Even on a busy machine, no request reaches a timeout.
    const nginx = await startNginx(urls, '60s', 'docs/nginx.conf', '60s');
    onTestFinished(nginx.stop);

    let isOver = false;
    const errors: unknown[] = [];
    const check = async (request: Promise<Outcome | Response>) => {
      const outcome = await request.catch(String);
      if (![200, 204].includes(Object(outcome).status)) errors.push(outcome);
      return Object(outcome);
    };
    /** Resolves with the number of created plants. Each client has its own ids. */
    const runClient = async (prefix: string, { call }: Caller, firstId: number) => {
      const target = { url: nginx.url + prefix, token };
      let id = firstId;
      for (; !isOver; id++) {
        await check(call(target, 'createPlant', { id, name: 'Hoya' }));
        await check(call(target, 'getPlant', { id }));
        await check(call(target, 'listPlants', { limit: 1 }));
        await check(call(target, 'deletePlant', { id }));
      }
      return id - firstId;
    };
    const follow = async (prefix: string, { call }: Caller) => {
      const target = { url: nginx.url + prefix, token };
      let cursor = {};
      while (!isOver) {
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
      ['', '/store'].flatMap((prefix, i) =>
        callers.map((caller, j) => runClient(prefix, caller, 1e6 * (4 * client + 2 * i + j))),
      ),
    );
    const readers = [
      ...callers.map((each) => follow('/store', each)),
      ...eventSurfaces.map(listen),
    ];
    for (const [i, program] of [...programs.entries(), ...programs.entries()]) {
      expect(await stopProgram(programs[i] ?? program)).toBe(0);
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
