import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { NewPlant } from '@plant-store/schemas';
import { createDatabase } from '@plant-store/test-setup';
import fc from 'fast-check';
import { beforeEach, expect, inject, it } from 'vitest';
import { readLines } from '../../src/formats/lines.ts';
import { formatNames, plantFormats } from '../../src/formats/plant-formats.ts';
import { migrated } from '../fixtures/migrated.ts';
import { run, start } from '../fixtures/run-program.ts';

let env: { DATABASE_URL: string };

beforeEach(async () => {
  env = { DATABASE_URL: await createDatabase(inject('postgresUrl')) };
});

const anyText = fc
  .string({
    unit: fc.oneof(fc.constantFrom(...'",\r\n\t\\ N\ufeff'), fc.string({ unit: 'binary' })),
  })
  .filter((text) => !text.includes('\0'));

const anyPlant = fc.record(
  { id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), name: anyText, tag: anyText },
  { requiredKeys: ['id', 'name'] },
);

const somePlants = fc.uniqueArray(anyPlant, { selector: ({ id }) => id, minLength: 1 });

it.each(formatNames)(
  '%s is read as it was written, wherever it is cut on its way',
  async (format) => {
    const { header, write, read } = plantFormats[format];
    await fc.assert(
      fc.asyncProperty(somePlants, fc.integer({ min: 1, max: 40 }), async (plants, size) => {
        const bytes = Buffer.from(header + plants.map(write).join(''));
        const cuts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size),
        );
        const rows = (await Array.fromAsync(read(readLines(Readable.from(cuts))))).flat();
        expect(rows.map((row) => 'plant' in row && row.plant)).toEqual(
          plants.map(withNumbers(format)),
        );
      }),
    );
  },
);

/** JSON's small integers are read as numbers. */
const withNumbers = (format: string) => (plant: NewPlant) => {
  const isSmall = Number.isSafeInteger(Number(plant.id));
  return format === 'ndjson' && isSmall ? { ...plant, id: Number(plant.id) } : plant;
};

it('restores the store exactly, from one database into the other', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-export-'));
  const embedded = { PLANT_STORE_DATA_DIR: directory };
  const sample = fc.sample(anyPlant, { numRuns: 500, seed: 1 });
  const plants = [...new Map(sample.map((plant) => [plant.id, plant])).values()];
  const sorted = plants.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ndjson = sorted.map(plantFormats.ndjson.write).join('');
  const csv = `id,name,tag\n${sorted.map(plantFormats.csv.write).join('')}`;

  const rejects = ['--rejects', join(directory, 'rejects')];
  expect((await run(['import', '-', ...rejects], { env, input: ndjson })).code).toBe(0);
  const asCsv = await run(['export', '--format', 'csv'], { env });
  expect(asCsv.stdout).toBe(csv);
  const asked = { env: embedded, input: asCsv.stdout };
  const imported = await run(['import', '-', '--format', 'csv', ...rejects], asked);
  expect(imported.stdout).toContain(`${plants.length} rows: ${plants.length} inserted`);
  expect((await run(['export'], { env: embedded })).stdout).toBe(ndjson);
  await rm(directory, { recursive: true });
});

it('needs no more memory for many plants than for few, in and out', async () => {
  const count = 120_000;
  function* lines() {
    for (let first = 0; first < count; first += 1000) {
      const plant = (_: unknown, i: number) =>
        `{"id":${first + i},"name":"${first + i} ${'x'.repeat(500)}"}\n`;
      yield Array.from({ length: 1000 }, plant).join('');
    }
  }
  // Their names alone would take more than this.
  const node = ['--max-old-space-size=48'];
  const importing = start(['import', '-', '--json', '--rejects', '/dev/null'], { env, node });
  await pipeline(Readable.from(lines()), importing.child.stdin);
  expect(JSON.parse((await importing.ended).stdout)).toMatchObject({ inserted: count });

  const { code, stdout } = await run(['export'], { env, node });
  expect(code).toBe(0);
  expect(stdout === [...lines()].join('')).toBe(true);
});

it('needs no more memory for long plants than for short ones', async () => {
  const sql = await migrated(env);
  await sql`insert into plants (id, name) select id, repeat('x', 1000000) from generate_series(1, 60) as id`;
  const { code, stdout } = await run(['export'], { env, node: ['--max-old-space-size=32'] });
  expect(code).toBe(0);
  expect(stdout.length).toBeGreaterThan(60_000_000);
  await sql.end();
});

it('writes what the store got since a moment', async () => {
  const sql = await migrated(env);
  await sql`insert into plants (id, name, created_at) values
    (1, 'old', '2026-01-31T23:59:59Z'), (2, 'new', '2026-02-01')`;
  const { stdout } = await run(['export', '--since', '2026-02-01'], { env });
  expect(stdout).toBe('{"id":2,"name":"new"}\n');
  await sql.end();
});

it('ends quietly when nobody reads on, as in export | head', async () => {
  const sql = await migrated(env);
  await sql`insert into plants (id, name) select id, 'plant' from generate_series(1, 100000) as id`;
  const { child, ended } = start(['export'], { env });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  expect(await ended.catch(() => once(child, 'close'))).toBeDefined();
  expect(child.exitCode).toBe(0);
  await sql.end();
});
