import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorCatalogue } from '@plant-store/schemas';
import { describe, expect, it } from 'vitest';
import { serve } from '../fixtures/program.ts';
import { hasPromtool } from '../fixtures/promtool.ts';

const path = fileURLToPath(new URL('../../../../docs/alerts.yml', import.meta.url));
const file = await readFile(path, 'utf8');
const page = await readFile(new URL('../../../../docs/observe.md', import.meta.url), 'utf8');

/** Returns the different texts of a pattern's group, in alphabetical order. */
const found = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map(([, group = '']) => group))].toSorted();

it('docs/alerts.yml has exactly the alerts that docs/observe.md explains', () => {
  const alerts = found(file, /- alert: (\w+)/g);
  expect(alerts.length).toBeGreaterThan(10);
  expect(found(page, /^\| `(PlantStore\w+)` \|/gm)).toEqual(alerts);
  expect(alerts).toEqual(expect.arrayContaining(found(page, /`(PlantStore\w+)`/g)));
});

it('docs/alerts.yml uses only metrics that the server has', async () => {
  const { metrics } = await serve({ PLANT_STORE_METRICS_PORT: '0' });
  const { types } = await metrics();
  const names = found(file, /\b((?:plant_store|nodejs|process)_\w+?)(?:_bucket|_count|_sum)?\b/g);
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

describe.runIf(hasPromtool)('promtool, where it is installed', () => {
  it('accepts the rules', async () => {
    expect((await promtool('check', 'rules', path)).stdout).toMatch(/SUCCESS: \d+ rules found/);
  });

  it('raises each alert only in the expected situation', async () => {
    const tests = fileURLToPath(new URL('alerts.promtool.yml', import.meta.url));
    expect((await promtool('test', 'rules', tests)).stdout).toContain('SUCCESS');
  });
});
