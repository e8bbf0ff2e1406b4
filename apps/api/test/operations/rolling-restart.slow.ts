import { createDatabase, freePort, hasPosixSignals } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';
import { type EventSurface, eventSurfaces } from '../fixtures/event-surfaces.ts';
import { serve, stopProgram, token } from '../fixtures/program.ts';
import { hasNginx, send, startNginx, type TestNginx } from './start-nginx.ts';

const json = { 'content-type': 'application/json', authorization: `Bearer ${token}` };

/** The calls of a client, each with its expected statuses. Each client has its own ids. */
const calls = [
  { name: 'create', path: '/plants', expected: [200] },
  { name: 'get', method: 'GET', path: '/plants/ID', expected: [200] },
  { name: 'list', method: 'GET', path: '/store/plants?limit=1', expected: [200] },
  { name: 'delete', method: 'DELETE', path: '/plants/ID', expected: [204] },
  { name: 'create over tRPC', path: '/trpc/createPlant', expected: [200] },
  { name: 'delete over tRPC', path: '/trpc/deletePlant', expected: [200] },
];

const bodies: Record<string, (id: number) => object> = {
  '/plants': (id) => ({ id, name: 'Hoya' }),
  '/trpc/createPlant': (id) => ({ json: { id, name: 'Hoya' } }),
  '/trpc/deletePlant': (id) => ({ json: { id } }),
};

/**
 * Sends one call after another until `isOver` returns true. Returns the number of calls, and the calls with
 * an unexpected response.
 */
async function runClient(nginx: TestNginx, first: number, isOver: () => boolean) {
  const failed: string[] = [];
  let sent = 0;
  for (let id = first; !isOver(); id++) {
    for (const { name, method = 'POST', path, expected } of calls) {
      const body = bodies[path]?.(id);
      const options = { method, headers: json, ...(body && { body: JSON.stringify(body) }) };
      const outcome = await send(nginx, path.replace('ID', String(id)), options).catch(String);
      sent++;
      if (typeof outcome === 'string') failed.push(`${name}: ${outcome}`);
      else if (!expected.includes(outcome.status))
        failed.push(`${name}: ${outcome.status} ${outcome.body}`);
    }
  }
  return { sent, failed };
}

/** Follows the feed page by page until `isOver` returns true. Returns the error responses. */
async function follow(nginx: TestNginx, isOver: () => boolean): Promise<string[]> {
  const failed: string[] = [];
  let query = '';
  while (!isOver()) {
    const { status, body } = await send(nginx, `/plants/changes${query}`, { headers: json });
    if (status === 200) query = `?wait=1&after=${JSON.parse(body).next}`;
    else failed.push(`changes: ${status} ${body}`);
  }
  return failed;
}

/** Reads event streams until `isOver` returns true. Connects again when a stream ends. Returns the errors. */
async function listen(
  nginx: TestNginx,
  surface: EventSurface,
  isOver: () => boolean,
): Promise<string[]> {
  const failed: string[] = [];
  while (!isOver()) {
    const outcome = await send(nginx, surface.path, {
      headers: { ...json, ...surface.headers },
    }).catch(String);
    if (typeof outcome === 'string') failed.push(`events: ${outcome}`);
    else if (outcome.status !== 200) failed.push(`events: ${outcome.status} ${outcome.body}`);
  }
  return failed;
}

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
    const clients = Array.from({ length: 12 }, (_, i) => runClient(nginx, 1e6 * i, () => isOver));
    const followers = [
      follow(nginx, () => isOver),
      ...eventSurfaces.map((surface) => listen(nginx, surface, () => isOver)),
    ];
    for (const [i, program] of [...programs.entries(), ...programs.entries()]) {
      expect(await stopProgram(programs[i] ?? program)).toBe(0);
      programs[i] = await start(ports[i] ?? 0);
    }
    isOver = true;
    const results = await Promise.all(clients);
    // An event stream ends only when its instance stops.
    await Promise.all(programs.map(stopProgram));
    const failed = [...results.map((result) => result.failed), ...(await Promise.all(followers))];
    expect(failed.flat()).toEqual([]);
    expect(Math.min(...results.map(({ sent }) => sent))).toBeGreaterThan(calls.length);
  },
);
