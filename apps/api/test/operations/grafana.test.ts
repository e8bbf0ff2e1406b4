import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { serve } from '../fixtures/program.ts';
import { post } from '../fixtures/surfaces.ts';

interface Panel {
  title: string;
  targets?: { expr: string; legendFormat: string }[];
}

const file = await readFile(new URL('../../../../deploy/grafana.json', import.meta.url), 'utf8');
const { panels }: { panels: Panel[] } = JSON.parse(file);
const targets = panels.flatMap(({ targets = [] }) => targets);

/** Prometheus adds `job` and `instance`. The server adds `error_type` and `sqlstate` only when it counts an error. */
const others = ['job', 'instance', 'error_type', 'sqlstate'];

it('deploy/grafana.json uses only metrics and labels that the server has', async () => {
  const store = await serve({ PLANT_STORE_METRICS_PORT: '0' });
  await post(store, '/plants', '{"id":1,"name":"Monstera deliciosa"}');
  const series = [...(await store.metrics()).samples.keys()];
  expect(targets.length).toBeGreaterThan(20);
  for (const { expr, legendFormat } of targets) {
    const names = [...expr.matchAll(/(\w+)\{/g)].map(([, name]) => name);
    const used = series.filter((each) => names.includes(each.replace(/\{.*/, '')));
    const served = new Set(used.map((each) => each.replace(/\{.*/, '')));
    expect(names.filter((name = '') => !isServed(name, served))).toEqual([]);
    const labels = [
      ...[...expr.matchAll(/(\w+)(?:=|!=|=~)"/g)].map(([, label]) => label),
      ...[...expr.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', ')),
      ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label),
    ].filter((label = '') => !others.includes(label));
    const lacking = labels.filter((label) => !used.some((each) => each.includes(`${label}="`)));
    expect(lacking, expr).toEqual([]);
  }
});

/** Counters of database errors have no series before the first error. */
function isServed(name: string, served: ReadonlySet<string>): boolean {
  return served.has(name) || name === 'plant_store_database_errors_total';
}
