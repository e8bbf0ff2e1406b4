import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { freePort } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { instanceChecks, questions } from '../../src/doctor/instance-checks.ts';
import { listen } from '../fixtures/listen.ts';

const healthy = {
  'plant_store_errors_total{code="40101"}': 7,
  plant_store_processes: 1,
  plant_store_time_seconds: Date.now() / 1_000,
  process_max_fds: 1_000,
  process_open_fds: 100,
  process_resident_memory_bytes: 1e8,
};

/** Serves one set of metrics for each request, and repeats the last set. Returns the URL. */
async function serveMetrics(...pages: Record<string, number>[]): Promise<string> {
  const server = createServer((_request, response) => {
    const page = pages.length > 1 ? pages.shift() : pages[0];
    response.end(
      Object.entries(page ?? {})
        .map((line) => `${line.join(' ')}\n`)
        .join(''),
    );
  });
  return `${await listen(server)}/metrics`;
}

it('finds no problem when an instance is healthy and its counters do not grow', async () => {
  expect(await instanceChecks(await serveMetrics(healthy), 1)).toEqual([
    { check: 'instance', level: 'ok', message: 'the metrics of the instance show no problem' },
  ]);
});

it.each([
  ['plant_store_errors_total{code="40101"}', 1_000, /^the instance gets invalid tokens: look at/],
  [
    'plant_store_time_seconds',
    1,
    /^the instance has a clock that differs from this machine's: set/,
  ],
  ['process_open_fds', 999, /^the instance has few file descriptors left: raise LimitNOFILE/],
  ['process_resident_memory_bytes', 2e9, /^the instance uses too much memory: if/],
  ['nodejs_eventloop_lag_p99_seconds', 0.9, /^the instance needs more CPU than it has: add/],
])('finds the cause of an instance with another value of %s', async (series, value, message) => {
  const page = { ...healthy, [series]: value };
  const isCounter = series.includes('_total');
  const url = await serveMetrics(...(isCounter ? [healthy, page] : [page]));
  expect(await instanceChecks(url, 1)).toEqual([
    { check: 'instance', level: 'warning', message: expect.stringMatching(message) },
  ]);
});

it.each([
  ['nobody serves', async () => `http://127.0.0.1:${await freePort()}`, 'ECONNREFUSED'],
  ['another program serves', () => serveMetrics({}), 'without the metrics of a plant store'],
])('finds that %s the metrics', async (_case, start, reason) => {
  const [finding] = await instanceChecks(await start(), 1);
  expect(finding).toMatchObject({
    level: 'problem',
    message: expect.stringContaining('the instance does not send its metrics'),
  });
  expect(finding?.message).toContain(reason);
});

it('checks the same metrics and limits as the alerts of docs/alerts.yml', async () => {
  const alerts = await readFile(new URL('../../../../docs/alerts.yml', import.meta.url), 'utf8');
  for (const { alert, value, limit } of questions) {
    const [, rule = ''] = new RegExp(`alert: ${alert}\\n([^]*?)labels:`).exec(alerts) ?? [];
    const asked: string[] = [];
    const ask = (series: string) => asked.push(...series.split(/\W+/).filter(Boolean));
    value({ value: ask, rate: ask });
    for (const word of asked.filter((each) => each !== 'code')) expect(rule, alert).toContain(word);
    expect(Number(/> (\S+)\n(?!.*> )/.exec(rule)?.[1]), alert).toBe(limit);
  }
});
