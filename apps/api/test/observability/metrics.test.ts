import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { errorCatalogue } from '@plant-store/schemas';
import {
  createDatabase,
  isInstalled,
  runSql,
  type StartedProcess,
  startProcess,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lockPlants } from '../fixtures/lock-plants.ts';
import { ownPostgres } from '../fixtures/own-postgres.ts';
import { readPrometheusText, type Scrape } from '../fixtures/prometheus-text.ts';
import { close, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { get, post, surfaces } from '../fixtures/surfaces.ts';

const own = ownPostgres();
let server: StartedProcess;
let databaseUrl: string;
let metricsUrl: string;
const target = { url: '', token: 'secret-of-the-tests' };

beforeAll(async () => {
  databaseUrl = await createDatabase(own.postgresUrl);
  server = startProcess({
    DATABASE_URL: databaseUrl,
    PLANT_STORE_TOKEN: target.token,
    PLANT_STORE_METRICS_PORT: '0',
  });
  [, target.url = ''] = await server.printed(/REST +(\S+)\/plants/);
  [, metricsUrl = ''] = await server.printed(/Metrics +(\S+)/);
});

afterAll(async () => {
  server.child.kill();
  await server.ended();
});

const scrape = async () => readPrometheusText(await (await fetch(metricsUrl)).text());

/** Runs a function. Returns the increase of each series during the run. */
async function growth(names: string[], run: () => Promise<unknown>): Promise<number[]> {
  const before = await scrape();
  await run();
  const after = await scrape();
  return names.map((name) => after.value(name) - before.value(name));
}

const requests = (route: string, status: number, error = '') =>
  `http_server_request_duration_seconds_count{http_request_method="POST",http_route="${route}",` +
  `http_response_status_code="${status}"${error && `,error_type="${error}"`}}`;
const errors = (error: number) => `plant_store_errors_total{code="${error}"}`;

it.each([
  ['REST', '/plants'],
  ['tRPC', '/trpc/*'],
])('counts the requests over %s by route, method and status', async (name, route) => {
  const surface = surfaces.find((each) => each.name === name);
  const grown = await growth(
    [requests(route, 200), requests(route, 409), requests(route, 401), errors(40900)],
    async () => {
      await surface?.send(target, '{"id":1,"name":"Monstera deliciosa"}');
      await surface?.send(target, '{"id":1,"name":"Monstera deliciosa"}');
      await surface?.send(target, '{"id":1,"name":"Ficus lyrata"}');
      await surface?.send({ ...target, token: 'unknown' }, '{"id":1,"name":"Ficus lyrata"}');
    },
  );
  expect(grown).toEqual([2, 1, 1, 1]);
});

it('counts each error of a batch over tRPC', async () => {
  const body = '{"0":{"json":{"id":"1"}},"1":{"json":{"id":"2"}},"2":{"json":{"id":3,"name":"x"}}}';
  const path = '/trpc/createPlant,createPlant,createPlant?batch=1';
  const series = [errors(40001), requests('/trpc/*', 207)];
  expect(await growth(series, () => post(target, path, body))).toEqual([2, 1]);
});

it('counts the errors of malformed requests', async () => {
  const grown = await growth([errors(40002)], async () => {
    await sendRaw(target.url, 'what is this?\r\n\r\n');
    await fetch(`${target.url}/%`);
  });
  expect(grown).toEqual([2]);
});

it('has a series for every error code even before the first error', async () => {
  const { samples } = await scrape();
  const series = Object.values(errorCatalogue).map(({ code }) => errors(code));
  expect([...samples.keys()]).toEqual(expect.arrayContaining(series));
});

it('counts the inserted plants and the SQL statements', async () => {
  const grown = await growth(['plant_store_insert_batch_plants_sum'], async () => {
    const ids = Array.from({ length: 20 }, (_, i) => 100 + i);
    await Promise.all(ids.map((id) => post(target, '/plants', `{"id":${id},"name":"x"}`)));
  });
  expect(grown).toEqual([20]);
  await get(target, '/plants');
  const { value } = await scrape();
  const statements = (operation: string) =>
    value(
      'db_client_operation_duration_seconds_count{db_system_name="postgresql",' +
        `db_operation_name="${operation}",db_collection_name="plants"}`,
    );
  expect(statements('INSERT')).toBe(value('plant_store_insert_batch_plants_count'));
  expect(statements('SELECT')).toBeGreaterThan(0);
});

it('shows the number of creates in the queue, and the number of creates in running statements', async () => {
  const unlock = await lockPlants(databaseUrl);
  const send = (id: number) => post(target, '/plants', `{"id":${id},"name":"x"}`);
  const responses = Promise.all(Array.from({ length: 20 }, (_, i) => send(200 + i)));
  const openCreates = ({ value }: Scrape) =>
    value('plant_store_queue_waiting') + value('plant_store_queue_in_flight');
  await expect.poll(async () => openCreates(await scrape())).toBe(20);
  expect((await scrape()).value('plant_store_queue_in_flight')).toBeGreaterThan(0);
  await unlock();
  await responses;
  const { value } = await scrape();
  expect(value('plant_store_queue_waiting')).toBe(0);
  expect(value('plant_store_queue_in_flight')).toBe(0);
});

it.each([
  ['REST', '/plants/changes', (after: string) => `/plants/changes?wait=20&after=${after}`],
  [
    'tRPC',
    '/trpc/*',
    (after: string) =>
      `/trpc/listPlantChanges?input=${JSON.stringify({ json: { wait: 20, after } })}`,
  ],
])('counts no lost client when a client ends a wait for changes over %s', async (_, route, of) => {
  const headers = { authorization: `Bearer ${target.token}` };
  const { next } = Object(await (await get(target, '/plants/changes')).json());
  const requests = async (status: number) =>
    (await scrape()).value(
      'http_server_request_duration_seconds_count' +
        `{http_request_method="GET",http_route="${route}",http_response_status_code="${status}"}`,
    );
  const before = await requests(200);
  const client = new AbortController();
  const response = fetch(target.url + of(next), { headers, signal: client.signal });
  await expect.poll(async () => (await scrape()).value('plant_store_feed_waiting')).toBe(1);
  client.abort();
  await expect(response).rejects.toThrow('aborted');
  await expect.poll(() => requests(200)).toBe(before + 1);
  expect(await requests(499)).toBe(0);
});

it('shows how many requests wait for changes, and for how long a transaction delays the feed', async () => {
  const page = async (query: string) =>
    Object(await (await get(target, `/plants/changes${query}`)).json());
  const { next } = await page('');
  const waiting = page(`?after=${next}&wait=20`);
  await expect.poll(async () => (await scrape()).value('plant_store_feed_waiting')).toBe(1);
  expect((await scrape()).value('plant_store_feed_lag_seconds')).toBe(0);
  const slow =
    'http_request_method="GET",http_route="/plants/changes",http_response_status_code="200"';
  const sum = `http_server_request_duration_seconds_sum{${slow}}`;
  const before = (await scrape()).value(sum);
  const startedAt = performance.now();
  const sql = postgres(databaseUrl, { max: 1 });
  await sql.begin(async (transaction) => {
    await transaction`insert into plants (id, name) values (300, 'x')`;
    await post(target, '/plants', '{"id":301,"name":"x"}');
    const seconds = async () => (await scrape()).value('plant_store_feed_lag_seconds');
    await expect.poll(seconds).toBeGreaterThan(1);
  });
  await sql.end();
  expect((await waiting).changes).toHaveLength(2);
  // The measured duration excludes the wait for changes, so that a wait raises no alert.
  const waited = (performance.now() - startedAt) / 1_000;
  expect((await scrape()).value(sum) - before).toBeLessThan(waited / 2);
});

it('adds no series for paths, methods and request IDs that clients invent', async () => {
  const send = async (methods: string[], word: string) => {
    const paths = ['/', '/plants/', '/plants?', '/trpc/', '/docs/'].map((path) => path + word);
    for (const method of methods) {
      for (const path of paths) {
        const headers = [`X-Request-Id: ${word}`, `Authorization: Bearer ${target.token}`, close];
        await sendRaw(target.url, rawRequest(`${method} ${path}`, headers));
      }
    }
    return [...(await scrape()).samples.keys()].filter((series) =>
      /^(plant_store|http_server|db_client)_/.test(series),
    );
  };
  const series = await send(['GET', 'HEAD', 'PUT', 'DELETE'], 'first');
  expect(await send(['DELETE', 'PURGE', 'MKCOL', 'PROPFIND', 'QUERY', 'GET'], 'second')).toEqual(
    series,
  );
});

it('serves the metrics only on the port for metrics', async () => {
  expect((await fetch(`${target.url}/metrics`)).status).toBe(404);
  const { headers } = await fetch(metricsUrl);
  expect(headers.get('vary')).toBe('accept');
  expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  const responses = await Promise.all([
    fetch(metricsUrl, { method: 'POST' }),
    fetch(new URL('/plants', metricsUrl)),
  ]);
  expect(await Promise.all(responses.map((response) => response.json()))).toEqual([
    { error: 40500, message: '/metrics takes GET, HEAD, not POST' },
    { error: 40400, message: 'there is no path /plants: the only path is /metrics' },
  ]);
});

/** The header that Prometheus sends. */
const accept =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,' +
  'text/plain;version=0.0.4;q=0.5,*/*;q=0.1';

it('adds the trace ID of a sampled request to the metrics in the format OpenMetrics', async () => {
  const [sampled, unsampled, invalid] = ['a', 'b', '0'].map((digit) => digit.repeat(32));
  for (const parent of [
    `00-${sampled}-00f067aa0ba902b7-01`,
    `00-${unsampled}-00f067aa0ba902b7-00`,
    `00-${invalid}-00f067aa0ba902b7-01`,
  ]) {
    await fetch(`${target.url}/livez`, { headers: { traceparent: parent } });
  }
  const response = await fetch(metricsUrl, { headers: { accept } });
  expect(response.headers.get('content-type')).toContain('application/openmetrics-text');
  const text = await response.text();
  expect(text).toMatch(/^plant_store_errors_total\{code="40400"\} \d/m);
  expect(text).toMatch(/^# TYPE plant_store_errors counter$/m);
  expect(text).toMatch(/\n# EOF\n$/);
  const exemplars = [...text.matchAll(/^(\w+)\{.*"\/livez".* # \{trace_id="(\w+)"\} /gm)];
  expect(exemplars.map(([, name, id]) => [name, id])).toEqual([
    ['http_server_request_duration_seconds_bucket', sampled],
  ]);
});

it.runIf(isInstalled('promtool'))(
  'has metrics about which promtool complains only because of a name from OpenTelemetry',
  async () => {
    const input = await (await fetch(metricsUrl)).text();
    const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input,
      encoding: 'utf8',
    });
    // OpenTelemetry's conventions name this gauge, although promtool allows the suffix only for histograms.
    expect((stdout + stderr).trim().split('\n')).toEqual([
      expect.stringMatching(/^db_client_connection_count .* should not have "_count" suffix$/),
    ]);
  },
);

it('has the metrics that docs/observe.md names, and no other metric of the store', async () => {
  const page = await readFile(new URL('../../../../docs/observe.md', import.meta.url), 'utf8');
  const named = new Set(
    [...page.matchAll(/\b(plant_store|nodejs|process|http_server|db_client)_[a-z\d_]+/g)].map(
      ([name]) => name.replace(/(?<!_connection)_(bucket|sum|count)$/, ''),
    ),
  );
  const served = new Set((await scrape()).types.keys());
  expect([...named].filter((name) => !served.has(name))).toEqual([]);
  const ours = [...served].filter((name) => /^(plant_store|http_server|db_client)_/.test(name));
  expect(ours.filter((name) => !named.has(name))).toEqual([]);
});

it('counts the database errors for each SQLSTATE', async () => {
  await runSql(databaseUrl, 'drop table plants');
  const grown = await growth(
    [
      'plant_store_database_errors_total{sqlstate="42P01"}',
      errors(50300),
      requests('/plants', 503, '50300'),
    ],
    async () => {
      for (const surface of surfaces) await surface.send(target, '{"id":300,"name":"x"}');
      await fetch(`${target.url}/readyz`);
    },
  );
  expect(grown).toEqual([3, 3, 1]);
});
