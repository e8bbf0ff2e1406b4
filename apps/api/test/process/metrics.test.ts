import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { serve, stopProgram } from '../fixtures/program.ts';
import { bearer, close, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { post, surfaces } from '../fixtures/surfaces.ts';

const start = () => serve({ PLANT_STORE_METRICS_PORT: '0' });
const plant = '{"id":1,"name":"x"}';
const metric = /\b(?:plant_store|nodejs|process|http_server|db_client)_\w+\b/g;

const read = (path: string) => readFile(new URL(`../../../../${path}`, import.meta.url), 'utf8');

/** Returns the names of the metrics in a text, without the suffixes of histograms. */
const metricsIn = (text: string) =>
  new Set((text.match(metric) ?? []).map((name) => name.replace(/_(bucket|sum|count)$/, '')));

describe('the metrics', () => {
  it('count the requests by route and status', async () => {
    const server = await start();
    for (const surface of surfaces) {
      await surface.send(server, plant);
      await surface.send(server, '{"id":1,"name":"y"}');
    }
    const { samples } = await server.metrics();
    const requests = (route: RegExp, status: number) =>
      [...samples]
        .filter(([name]) => name.startsWith('http_server_request_duration_seconds_count'))
        .filter(([name]) => route.test(name) && name.includes(`status_code="${status}"`))
        .reduce((sum, [, count]) => sum + count, 0);
    for (const route of [/http_route="\/plants"/, /http_route="\/trpc/]) {
      expect([requests(route, 200), requests(route, 409)]).toEqual([1, 1]);
    }
  });

  it('have no series for paths, methods and request ids that clients invent', async () => {
    const server = await start();
    const send = async (word: string) => {
      for (const method of ['GET', 'PUT', 'PURGE', 'QUERY']) {
        for (const path of ['/', '/plants/', '/plants?', '/trpc/', '/docs/']) {
          const headers = [`X-Request-Id: ${word}`, bearer(server.token), close];
          await sendRaw(server.url, rawRequest(`${method} ${path}${word}`, headers));
        }
      }
      return [...(await server.metrics()).samples.keys()].filter((name) =>
        /^(plant_store|http_server|db_client)_/.test(name),
      );
    };
    const series = await send('first');
    expect(await send('second')).toEqual(series);
    expect(series.join()).not.toContain('first');
  });

  it('are served only on their own port', async () => {
    const server = await start();
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
    const [, url = ''] = await server.printed(/Metrics +(\S+)/);
    const response = await fetch(url);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect((await fetch(new URL('/plants', url))).status).toBe(404);
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    await stopProgram(server);
  });

  it('have at most fifteen names, which the page, the alerts and the dashboard use', async () => {
    const server = await start();
    await post(server, '/plants', plant);
    await post(server, '/plants', '{"id":1,"name":"y"}');
    const { types, samples } = await server.metrics();
    expect(types.size).toBeLessThanOrEqual(15);
    const labels = [...samples.keys()].flatMap((series) => [...metricsIn(series)]);
    const known = [...metricsIn([...types.keys()].join(' ')), ...labels];
    for (const path of ['docs/observe.md', 'docs/alerts.yml', 'deploy/grafana.json']) {
      const names = [...metricsIn(await read(path))];
      expect(names.length).toBeGreaterThan(3);
      expect({ path, unknown: names.filter((name) => !known.includes(name)) }).toEqual({
        path,
        unknown: [],
      });
    }
  });
});
