import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@plant-store/test-setup';
import fc from 'fast-check';
import { beforeEach, expect, inject, it } from 'vitest';
import { plantFormats } from '../../src/formats/plant-formats.ts';
import { anyPlant } from '../fixtures/any-plant.ts';
import { migratedDatabase } from '../fixtures/migrated-database.ts';
import { run, start } from '../fixtures/run-program.ts';

let env: { DATABASE_URL: string };

beforeEach(async () => {
  env = { DATABASE_URL: await createDatabase(inject('postgresUrl')) };
});

it('restores a store exactly when another store imports it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-export-'));
  const embedded = { PLANT_STORE_DATA_DIR: directory };
  const sample = fc.sample(anyPlant, { numRuns: 500, seed: 1 });
  const plants = [...new Map(sample.map((plant) => [plant.id, plant])).values()];
  const sorted = plants.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ndjson = sorted.map(plantFormats.ndjson.write).join('');
  const csv = `id,name,tag\n${sorted.map(plantFormats.csv.write).join('')}`;

  const rejects = ['--rejects', join(directory, 'rejects')];
  expect((await run(['import', '-', ...rejects], { env, input: ndjson })).code).toBe(0);
  const exported = await run(['export', '--format', 'csv'], { env });
  expect(exported.stdout).toBe(csv);
  const imported = await run(['import', '-', '--format', 'csv', ...rejects], {
    env: embedded,
    input: exported.stdout,
  });
  expect(imported.stdout).toContain(`${plants.length} rows: ${plants.length} inserted`);
  expect((await run(['export'], { env: embedded })).stdout).toBe(ndjson);
  await rm(directory, { recursive: true });
});

it('writes the plants created since a time', async () => {
  const sql = await migratedDatabase(env);
  await sql`insert into plants (id, name, created_at) values
    (1, 'old', '2026-01-31T23:59:59Z'), (2, 'new', '2026-02-01')`;
  const { stdout } = await run(['export', '--since', '2026-02-01'], { env });
  expect(stdout).toBe('{"id":2,"name":"new"}\n');
  await sql.end();
});

it('exits quietly when the reader closes the pipe, as head does', async () => {
  const sql = await migratedDatabase(env);
  await sql`insert into plants (id, name) select id, 'plant' from generate_series(1, 100000) as id`;
  const { child, result } = start(['export'], { env });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  expect(await result).toMatchObject({ code: 0, stderr: '' });
  await sql.end();
});
