import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { serve, stopProgram } from '../fixtures/program.ts';
import { bearer, close, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { post, surfaces } from '../fixtures/surfaces.ts';

const start = () => serve({ PLANT_STORE_METRICS_PORT: '0' });
const plant = '{"id":1,"name":"x"}';
const read = (path: string) => readFile(new URL(`../../../../${path}`, import.meta.url), 'utf8');

/** Returns the names of the metrics in a text, without the suffixes of histograms. */
const metricsIn = (text: string) =>
  new Set(
    [...text.matchAll(/\b(?:plant_store|nodejs|process|http_server|db_client)_\w+\b/g)].map(
      ([name]) => name.replace(/_(bucket|sum|count)$/, ''),
    ),
  );

describe('the metrics', () => {
  it('count the requests by route and status', async () => {
    const server = await start();
    for (const surface of surfaces) {
      await surface.send(server, plant);
      await surface.send(server, '{"id":1,"name":"y"}');
    }
    const metrics = await server.metrics();
    for (const route of ['/plants', '/trpc[^"]*']) {
      for (const status of [200, 409]) {
        const labels = `http_route="${route}",http_response_status_code="${status}"`;
        expect(metrics).toMatch(new RegExp(`^http_server_\\w+_count{.*${labels}.*} 1$`, 'm'));
      }
    }
  });

  it('have no series for paths and request ids that clients invent', async () => {
    const server = await start();
    const send = async (word: string) => {
      for (const method of ['GET', 'PUT', 'PURGE', 'QUERY']) {
        for (const path of ['/', '/plants/', '/plants?', '/trpc/', '/docs/']) {
          const headers = [`X-Request-Id: ${word}`, bearer(server.token), close];
          await sendRaw(server.url, rawRequest(`${method} ${path}${word}`, headers));
        }
      }
      return (await server.metrics()).match(/^(plant_store|http_server|db_client)\S+/gm);
    };
    const series = await send('first');
    expect(await send('second')).toEqual(series);
    expect(String(series)).not.toContain('first');
  });

  it('are served only on their own port', async () => {
    const server = await start();
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
    const [, url = ''] = await server.printed(/Metrics +(\S+)/);
    const response = await fetch(url);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect((await fetch(new URL('/plants', url))).status).toBe(404);
    await stopProgram(server);
  });

  it('have at most fifteen names, and docs/observe.md, the alerts and the dashboard use no other names', async () => {
    const server = await start();
    await post(server, '/plants', plant);
    await post(server, '/plants', '{"id":1,"name":"y"}');
    const metrics = await server.metrics();
    expect(metrics.match(/^# TYPE/gm)?.length).toBeLessThanOrEqual(15);
    const known = metricsIn(metrics);
    for (const path of ['docs/observe.md', 'docs/alerts.yml', 'deploy/grafana.json']) {
      const names = metricsIn(await read(path));
      expect(names.size).toBeGreaterThan(3);
      expect(
        [...names].filter((name) => !known.has(name)),
        path,
      ).toEqual([]);
    }
  });
});
