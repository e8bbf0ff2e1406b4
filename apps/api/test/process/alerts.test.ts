import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../fixtures/program.ts';

const rules = fileURLToPath(new URL('../../../../docs/alerts.yml', import.meta.url));

const requests = 'http_server_request_duration_seconds';

/** The series of a healthy instance in promtool's notation, with a value for each minute of six hours. */
const healthy = {
  [`${requests}_count{http_request_method="POST"}`]: '0+60x360',
  [`${requests}_bucket{http_request_method="POST",le="1"}`]: '0+60x360',
  [`${requests}_bucket{http_request_method="POST",le="10"}`]: '0+60x360',
  [`${requests}_bucket{http_request_method="POST",le="+Inf"}`]: '0+60x360',
  'db_client_operation_duration_seconds_count{}': '0+10x360',
  'plant_store_database_up{}': '1x360',
  'plant_store_database_clock_ahead_seconds{}': '0.1x360',
  'plant_store_feed_lag_seconds{}': '1x360',
  'plant_store_unsettled_writes{}': '0x360',
  'plant_store_webhooks_failing{}': '0x360',
};

const failed = `${requests}_count{http_request_method="POST",error_type="50300"}`;

/** Each alert, the series that make it fire, and other alerts that fire too. `_` is a missing value. */
const faults: [alert: string, series: Record<string, string>, others?: string[]][] = [
  ['PlantStoreNoReadyInstance', { 'plant_store_database_up{}': '1x350 _x10' }],
  [
    'PlantStoreDatabaseDown',
    { 'plant_store_database_up{}': '1x350 0x10' },
    ['PlantStoreNoReadyInstance'],
  ],
  ['PlantStoreErrorBudgetFast', { [failed]: '0x340 4+4x20' }],
  ['PlantStoreErrorBudgetSlow', { [failed]: '0+0.5x360' }],
  [
    'PlantStoreCreatesSlow',
    { [`${requests}_bucket{http_request_method="POST",le="1"}`]: '0+50x360' },
  ],
  ['PlantStoreFeedHeldBack', { 'plant_store_feed_lag_seconds{}': '1x350 61+60x10' }],
  ['PlantStoreWebhookFailing', { 'plant_store_webhooks_failing{}': '0x350 1x10' }],
  ['PlantStoreUnsettledWrites', { 'plant_store_unsettled_writes{}': '0x350 1x10' }],
  ['PlantStoreClockAhead', { 'plant_store_database_clock_ahead_seconds{}': '45x360' }],
  [
    'PlantStoreDiskFull',
    { 'db_client_operation_duration_seconds_count{error_type="53100"}': '0x350 1+1x10' },
  ],
];

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

/** Has promtool compare the alerts that fire after six hours with `expected`. promtool reads JSON as YAML. */
async function expectAlerts(series: Record<string, string>, expected: string[]): Promise<void> {
  const labelled = Object.entries(series).map(([name, values]) => ({
    series: name.replace('{', '{job="plant-store",instance="a",'),
    values,
  }));
  const firing = {
    expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: '6h',
    exp_samples: expected.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
  };
  const test = { interval: '1m', input_series: labelled, promql_expr_test: [firing] };
  const file = join(await temporaryDirectory(), 'test.yml');
  await writeFile(file, JSON.stringify({ rule_files: [rules], tests: [test] }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file]);
  expect({ status, output: `${stdout}${stderr}` }).toMatchObject({ status: 0 });
}

it.runIf(hasPromtool)('no alert fires for a healthy instance', () => expectAlerts(healthy, []));

it.runIf(hasPromtool).each(faults)('the alert %s fires', (alert, series, others = []) =>
  expectAlerts({ ...healthy, ...series }, [alert, ...others]),
);

it('each alert has a test that fires it, and a row in docs/observe.md', async () => {
  const alerts = [...(await readFile(rules, 'utf8')).matchAll(/- alert: (\w+)/g)].map(([, n]) => n);
  expect(alerts.toSorted()).toEqual(faults.map(([alert]) => alert).toSorted());
  const page = await readFile(join(rules, '../observe.md'), 'utf8');
  for (const alert of alerts) expect(page).toContain(`\`${alert}\``);
});
