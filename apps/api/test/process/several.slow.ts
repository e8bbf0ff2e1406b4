import { once } from 'node:events';
import { request } from 'node:http';
import {
  hasPosixSignals,
  runSql,
  type StartedProcess,
  startAcknowledgedLoad,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { expectStored, type Row } from '../faults/stored-plants.ts';
import { serve, startProgram, stopProgram, token } from '../fixtures/program.ts';
import { beginCreate } from '../fixtures/raw-request.ts';
import { post } from '../fixtures/surfaces.ts';

const headers = { authorization: `Bearer ${token}` };

/** Returns the log lines whose message begins with `message`. */
const logged = (server: StartedProcess, message: string) =>
  server
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(`"msg":"${message}`))
    .map((line) => JSON.parse(line));

const workersOf = (server: StartedProcess): number[] =>
  logged(server, 'Server listening').map(({ pid }) => pid);

const start = (env: Record<string, string> = {}) => serve({ PLANT_STORE_PROCESSES: '2', ...env });

/** Sends a signal to all processes of the server, as a terminal does. */
const signalAll = (server: StartedProcess, signal: NodeJS.Signals) => {
  for (const pid of [...workersOf(server), server.child.pid]) process.kill(Number(pid), signal);
};

const plant = '{"id":1,"name":"x"}';

/** Sends a request on a new connection. */
const get = (url: string) => fetch(url, { headers: { ...headers, connection: 'close' } });

it('serves one address with several processes, which share one log and report the sum of their metrics', async () => {
  const server = await start({ PLANT_STORE_METRICS_PORT: '0' });
  for (let i = 0; i < 20; i++) expect((await get(`${server.url}/plants/${i}`)).status).toBe(404);
  const { value } = await server.metrics();
  const labels =
    'http_request_method="GET",http_route="/plants/:id",http_response_status_code="404"';
  expect(value(`http_server_request_duration_seconds_count{${labels}}`)).toBe(20);
  expect(value('plant_store_processes')).toBe(2);
  expect(value('plant_store_unwritable_ratio')).toBe(0);
  expect(value('process_start_time_seconds')).toBeGreaterThan(Date.now() / 1000 - 600);
  await stopProgram(server);
  const pids = new Set(logged(server, 'request').map(({ pid }) => pid));
  // The first process also listens, but only on the port for metrics.
  expect([...pids, server.child.pid].toSorted()).toEqual(workersOf(server).toSorted());
  expect(pids.size).toBe(2);
  expect(server.output().match(/The plant store is open/g)).toHaveLength(1);
  expect(server.output()).toContain(`kill ${server.child.pid}\n`);
});

it('responds to the waiting clients of all processes after a change, and when the server stops', async () => {
  const server = await start({ PLANT_STORE_METRICS_PORT: '0' });
  const wait = async (after: string) => {
    const responses = [1, 2, 3, 4].map(() =>
      get(`${server.url}/plants/changes?after=${after}&wait=20`),
    );
    const waiting = async () => (await server.metrics()).value('plant_store_feed_waiting');
    await expect.poll(waiting).toBe(4);
    return responses.map(async (response) => Object(await (await response).json()));
  };
  const { next } = Object(await (await get(`${server.url}/plants/changes`)).json());
  const pages = await wait(next);
  await post(server, '/plants', plant);
  const [page, ...others] = await Promise.all(pages);
  expect(page).toMatchObject({ changes: [{ type: 'created', plant: { id: 1 } }] });
  expect(others).toEqual([page, page, page]);
  const last = await wait(page.next);
  server.child.kill('SIGTERM');
  for (const each of last) expect(await each).toEqual({ changes: [], next: page.next });
  expect(await server.ended()).toBe(0);
});

it('when the server cannot start, prints the reason only once and exits with code 1', async () => {
  const none = Object.assign(new URL(inject('postgresUrl')), { pathname: '/none' });
  const server = startProgram({ DATABASE_URL: none.href, PLANT_STORE_PROCESSES: '2' });
  expect(await server.ended()).toBe(1);
  expect(server.output().match(/did not start/g)).toHaveLength(1);
});

it('replaces a process that dies repeatedly, and waits longer before each replacement', async () => {
  const server = await start();
  const name = new URL(server.databaseUrl).pathname.slice(1);
  await runSql(inject('postgresUrl'), `drop database ${name} with (force)`);
  process.kill(workersOf(server)[0] ?? Number.NaN, 'SIGKILL');
  const delays = () => logged(server, 'a process died').map(({ delay }) => delay);
  await expect.poll(() => delays().slice(0, 3)).toEqual([0, 1000, 2000]);
  server.child.kill('SIGTERM');
  expect(await server.ended()).toBe(0);
});

describe.runIf(hasPosixSignals)('on a signal', () => {
  it('loses no acknowledged plant when a process is killed, and replaces the process', async () => {
    const server = await start();
    const load = startAcknowledgedLoad(server);
    onTestFinished(() => load.stop());
    await load.acknowledged(50);
    const [killed = Number.NaN] = workersOf(server);
    process.kill(killed, 'SIGKILL');
    await load.acknowledged(50);
    await expect.poll(() => workersOf(server)).toHaveLength(3);
    await load.acknowledged(50);
    await load.stop();

    const sql = postgres(server.databaseUrl);
    expectStored(load.seen.acknowledged, await sql<Row[]>`select id::int, name, tag from plants`);
    await sql.end();
    expect(logged(server, 'a process died')).toMatchObject([{ died: killed, signal: 'SIGKILL' }]);
    expect(await stopProgram(server)).toBe(0);
  });

  it('when a process is killed, closes the connections to this process', async () => {
    const server = await start();
    const [frozen = Number.NaN] = workersOf(server);
    process.kill(frozen, 'SIGSTOP');
    const responses = [get(`${server.url}/livez`), get(`${server.url}/livez`)];
    await Promise.race(responses);
    process.kill(frozen, 'SIGKILL');
    const outcomes = (await Promise.allSettled(responses)).map(({ status }) => status);
    expect(outcomes.toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('is ready only when all processes are ready', async () => {
    const server = await start();
    const [frozen = Number.NaN] = workersOf(server);
    process.kill(frozen, 'SIGSTOP');
    const responses = [get(`${server.url}/readyz`), get(`${server.url}/readyz`)];
    expect((await Promise.race(responses)).status).toBe(503);
    process.kill(frozen, 'SIGCONT');
    await Promise.all(responses);
    expect((await get(`${server.url}/readyz`)).status).toBe(200);
  });

  it('responds to every request before the exit when all processes get SIGTERM', async () => {
    const server = await start({ PLANT_STORE_DRAIN_DELAY_MS: '200' });
    const clients = Array.from({ length: 16 }, () => sendUntilRefused(`${server.url}/plants/1`));
    await expect.poll(() => logged(server, 'request').length).toBeGreaterThan(50);
    const held = await beginCreate(server, plant);
    signalAll(server, 'SIGTERM');
    expect(await Promise.all(clients)).toEqual(Array(16).fill('ECONNREFUSED'));
    held.write(plant);
    expect(String(await once(held, 'data'))).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(await server.ended()).toBe(0);
  });

  it('does not stop when all processes get SIGHUP and the server has no terminal', async () => {
    const server = await start();
    signalAll(server, 'SIGHUP');
    for (let i = 0; i < 20; i++) expect((await get(`${server.url}/plants/${i}`)).status).toBe(404);
    expect(await stopProgram(server)).toBe(0);
    expect(logged(server, 'a process died')).toEqual([]);
    expect(logged(server, 'stopping')).toHaveLength(2);
  });

  it('exits immediately after a second signal', async () => {
    const server = await start();
    await beginCreate(server, plant);
    server.child.kill('SIGTERM');
    await vi.waitFor(() => expect(logged(server, 'stopping')).toHaveLength(2));
    server.child.kill('SIGINT');
    expect(await server.ended()).toBe(1);
    for (const pid of workersOf(server)) {
      await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
    }
  });
});

/** Sends requests one after another, each on a new connection, until an error. Returns the error's code. */
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
