import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import {
  createDatabase,
  hasPosixSignals,
  type StartedProcess,
  startAcknowledgedLoad,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { printedUrl, startProgram, stopProgram } from '../fixtures/program.ts';
import { readPrometheusText } from '../fixtures/prometheus-text.ts';

const token = 'secret-of-the-tests';
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

/** The lines of the log that have this message. */
const logged = (server: StartedProcess, message: string) =>
  server
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(`"msg":"${message}`))
    .map((line) => JSON.parse(line));

/** The process ids of the workers. */
const workersOf = (server: StartedProcess): number[] =>
  logged(server, 'Server listening').map(({ pid }) => pid);

async function start(env: Record<string, string> = {}) {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const server = startProgram({
    DATABASE_URL: databaseUrl,
    PLANT_STORE_TOKEN: token,
    PLANT_STORE_PROCESSES: '2',
    ...env,
  });
  return { server, databaseUrl, url: await printedUrl(server) };
}

/** A request on a connection of its own. */
const get = (url: string) => fetch(url, { headers: { ...headers, connection: 'close' } });

it('serves one address with several processes, which share a log', async () => {
  const { server, url } = await start();
  for (let i = 0; i < 20; i++) expect((await get(`${url}/plants/${i}`)).status).toBe(404);
  await stopProgram(server);
  const pids = new Set(logged(server, 'request').map(({ pid }) => pid));
  expect(pids).toEqual(new Set(workersOf(server)));
  expect(pids.size).toBe(2);
  expect(pids).not.toContain(server.child.pid);
  expect(server.output().match(/The plant store is open/g)).toHaveLength(1);
  expect(server.output()).toContain(`kill ${server.child.pid}\n`);
});

it('adds the metrics of all processes', async () => {
  const { server, url } = await start({ PLANT_STORE_METRICS_PORT: '0' });
  for (let i = 0; i < 20; i++) await get(`${url}/plants/${i}`);
  const [, metricsUrl = ''] = await server.printed(/Metrics +(\S+)/);
  const { value } = readPrometheusText(await (await fetch(metricsUrl)).text());
  const labels = 'route="/plants/:id",method="GET",status="404"';
  expect(value(`plant_store_request_duration_seconds_count{${labels}}`)).toBe(20);
  expect(value('plant_store_processes')).toBe(2);
  expect(value('plant_store_unwritable_ratio')).toBe(0);
  expect(value('process_start_time_seconds')).toBeGreaterThan(Date.now() / 1000 - 600);
});

it('responds to clients that wait for changes in all processes, after a change and when it stops', async () => {
  const { server, url } = await start({ PLANT_STORE_METRICS_PORT: '0' });
  const [, metricsUrl = ''] = await server.printed(/Metrics +(\S+)/);
  const wait = async (after: string) => {
    const responses = [1, 2, 3, 4].map(() => get(`${url}/plants/changes?after=${after}&wait=20`));
    const waiting = async () => {
      const { value } = readPrometheusText(await (await fetch(metricsUrl)).text());
      return value('plant_store_feed_waiting');
    };
    await expect.poll(waiting).toBe(4);
    return responses.map(async (response) => Object(await (await response).json()));
  };
  const { next } = Object(await (await get(`${url}/plants/changes`)).json());
  const pages = await wait(next);
  await fetch(`${url}/plants`, { method: 'POST', headers, body: '{"id":1,"name":"x"}' });
  const [page, ...others] = await Promise.all(pages);
  expect(page).toMatchObject({ changes: [{ type: 'created', plant: { id: 1 } }] });
  expect(others).toEqual([page, page, page]);
  const last = await wait(page.next);
  server.child.kill('SIGTERM');
  for (const each of last) expect(await each).toEqual({ changes: [], next: page.next });
  expect(await server.ended()).toBe(0);
});

it('prints once why it cannot start, and exits with code 1', async () => {
  const none = Object.assign(new URL(inject('postgresUrl')), { pathname: '/none' });
  const server = startProgram({ DATABASE_URL: none.href, PLANT_STORE_PROCESSES: '2' });
  expect(await server.ended()).toBe(1);
  expect(server.output().match(/did not start/g)).toHaveLength(1);
});

it('replaces a process that keeps dying, after longer and longer delays', async () => {
  const { server, databaseUrl } = await start();
  const admin = postgres(inject('postgresUrl'), { max: 1 });
  await admin.unsafe(`drop database ${new URL(databaseUrl).pathname.slice(1)} with (force)`);
  await admin.end();
  process.kill(workersOf(server)[0] ?? Number.NaN, 'SIGKILL');
  const delays = () => logged(server, 'a process died').map(({ delay }) => delay);
  await expect.poll(delays).toEqual([0, 1000, 2000]);
  server.child.kill('SIGTERM');
  expect(await server.ended()).toBe(0);
});

// Windows has no signals that a process can handle.
describe.runIf(hasPosixSignals)('on a signal', () => {
  it('loses no acknowledged plant when a process is killed, and replaces it', async () => {
    const { server, databaseUrl, url } = await start();
    const load = startAcknowledgedLoad({ url, token });
    onTestFinished(() => load.stop());
    await load.acknowledged(50);
    const [killed = Number.NaN] = workersOf(server);
    process.kill(killed, 'SIGKILL');
    await load.acknowledged(50);
    await expect.poll(() => workersOf(server)).toHaveLength(3);
    await load.acknowledged(50);
    await load.stop();

    const sql = postgres(databaseUrl);
    const rows = await sql`select id, name, tag from plants`;
    await sql.end();
    const stored = new Map(rows.map(({ id, ...plant }) => [Number(id), plant]));
    for (const { id, name, tag = null } of load.seen.acknowledged) {
      expect(stored.get(id)).toEqual({ name, tag });
    }
    expect(logged(server, 'a process died')).toMatchObject([{ died: killed, signal: 'SIGKILL' }]);
    expect(await stopProgram(server)).toBe(0);
  });

  it('closes a connection that a killed process has not taken', async () => {
    const { server, url } = await start();
    const [frozen = Number.NaN] = workersOf(server);
    process.kill(frozen, 'SIGSTOP');
    const responses = [get(`${url}/livez`), get(`${url}/livez`)];
    await Promise.race(responses);
    process.kill(frozen, 'SIGKILL');
    const outcomes = (await Promise.allSettled(responses)).map(({ status }) => status);
    expect(outcomes.toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('is ready only when all processes are ready', async () => {
    const { server, url } = await start();
    const [frozen = Number.NaN] = workersOf(server);
    process.kill(frozen, 'SIGSTOP');
    // The frozen process gets one of the connections.
    const responses = [get(`${url}/readyz`), get(`${url}/readyz`)];
    expect((await Promise.race(responses)).status).toBe(503);
    process.kill(frozen, 'SIGCONT');
    await Promise.all(responses);
    expect((await get(`${url}/readyz`)).status).toBe(200);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'responds to every request before it exits when all its processes get %s',
    async (signal) => {
      const { server, url } = await start({ PLANT_STORE_DRAIN_DELAY_MS: '200' });
      const clients = Array.from({ length: 16 }, () => sendUntilRefused(`${url}/plants/1`));
      await expect.poll(() => logged(server, 'request').length).toBeGreaterThan(50);
      const held = await beginCreate(url);
      for (const pid of [...workersOf(server), server.child.pid]) process.kill(Number(pid), signal);
      expect(await Promise.all(clients)).toEqual(Array(16).fill('ECONNREFUSED'));
      held.write('{"id":1,"name":"x"}');
      expect(String(await once(held, 'data'))).toMatch(/^HTTP\/1\.1 200 OK/);
      expect(await server.ended()).toBe(0);
    },
  );

  it('keeps running when all its processes get SIGHUP without a terminal', async () => {
    const { server, url } = await start();
    for (const pid of [...workersOf(server), server.child.pid]) process.kill(Number(pid), 'SIGHUP');
    for (let i = 0; i < 20; i++) expect((await get(`${url}/plants/${i}`)).status).toBe(404);
    expect(await stopProgram(server)).toBe(0);
    expect(logged(server, 'a process died')).toEqual([]);
    expect(logged(server, 'stopping')).toHaveLength(2);
  });

  it('exits at once on a second signal', async () => {
    const { server, url } = await start();
    await beginCreate(url);
    server.child.kill('SIGTERM');
    await vi.waitFor(() => expect(logged(server, 'stopping')).toHaveLength(2));
    server.child.kill('SIGINT');
    expect(await server.ended()).toBe(1);
    for (const pid of workersOf(server)) {
      await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
    }
  });
});

/**
 * Sends one request after the other, each on a connection of its own. Resolves with the first
 * error.
 */
async function sendUntilRefused(url: string): Promise<string> {
  for (;;) {
    const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      const sent = request(url, { headers, agent: false }, (response) => {
        response
          .resume()
          .on('end', () => resolve(undefined))
          .on('error', resolve);
      });
      sent.on('error', resolve).end();
    });
    if (error) return error.code ?? error.message;
  }
}

/** Sends the headers of a create. Resolves when the server asks for the body. */
async function beginCreate(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  socket.write(
    'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret-of-the-tests\r\n' +
      'Content-Type: application/json\r\nContent-Length: 19\r\nExpect: 100-continue\r\n\r\n',
  );
  await once(socket, 'data');
  return socket;
}
