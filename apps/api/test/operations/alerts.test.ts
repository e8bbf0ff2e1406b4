import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorCatalogue } from '@plant-store/schemas';
import { isInstalled } from '@plant-store/test-setup';
import { describe, expect, it } from 'vitest';
import { serve } from '../fixtures/program.ts';

const path = fileURLToPath(new URL('../../../../docs/alerts.yml', import.meta.url));
const file = await readFile(path, 'utf8');
const page = await readFile(new URL('../../../../docs/observe.md', import.meta.url), 'utf8');

const testsPath = fileURLToPath(new URL('alerts.promtool.yml', import.meta.url));
const tests = await readFile(testsPath, 'utf8');

const alertRules = () => file.split(/^ *- (?=alert: )/m).slice(1);
const nameOf = (rule: string) => /\w+/.exec(rule.slice('alert: '.length))?.[0] ?? '';

/** Returns the distinct matches of a pattern's group, in alphabetical order. */
const found = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map(([, group = '']) => group))].toSorted();

it('docs/observe.md has one section for each alert of docs/alerts.yml, and each alert names its section', () => {
  const alerts = found(file, /- alert: (\w+)/g);
  expect(alerts.length).toBeGreaterThan(10);
  expect(found(page, /^### (PlantStore\w+)$/gm)).toEqual(alerts);
  expect(alerts).toEqual(expect.arrayContaining(found(page, /`(PlantStore\w+)`/g)));
  for (const rule of alertRules()) {
    expect(rule).toContain(`runbook: docs/observe.md#${nameOf(rule).toLowerCase()}\n`);
  }
});

it('each alert of docs/alerts.yml has a promtool test in which the alert fires', () => {
  const cases: string[] = [];
  let alert = '';
  // The promtool tests name a severity only for an alert that must fire.
  for (const [, name, severity] of tests.matchAll(/alertname: (\w+)|severity: (\w+)/g)) {
    if (name) alert = name;
    else cases.push(`${alert} ${severity}`);
  }
  const rules = alertRules().map((rule) => [nameOf(rule), /severity: (\w+)/.exec(rule)?.[1]]);
  expect(cases).toEqual(expect.arrayContaining(rules.map((rule) => rule.join(' '))));
});

it('docs/alerts.yml uses only metrics that the server has', async () => {
  const { metrics } = await serve({ PLANT_STORE_METRICS_PORT: '0' });
  const { types } = await metrics();
  const names = found(
    file,
    /\b((?:plant_store|nodejs|process|http_server|db_client)_\w+?)(?:_bucket|_count|_sum)?\b(?!:)/g,
  );
  expect(names.length).toBeGreaterThan(5);
  expect([...types.keys()]).toEqual(expect.arrayContaining(names));
});

it('docs/alerts.yml uses only error codes of the catalogue', () => {
  const codes = Object.values(errorCatalogue).map(({ code }) => String(code));
  const asked = found(file, /[{,]code=~?"([\d|]+)"/g).flatMap((list) => list.split('|'));
  expect(asked.length).toBeGreaterThan(5);
  expect(codes).toEqual(expect.arrayContaining(asked));
});

const promtool = (...args: string[]) => promisify(execFile)('promtool', args);

describe.runIf(isInstalled('promtool'))('promtool', () => {
  it('accepts the rules', async () => {
    expect((await promtool('check', 'rules', path)).stdout).toMatch(/SUCCESS: \d+ rules found/);
  });

  it('the alert rules pass the promtool tests', async () => {
    expect((await promtool('test', 'rules', testsPath)).stdout).toContain('SUCCESS');
  });
});
