import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { openPlantStore, type PlantStore } from '@plant-store/core';
import { createPlantWriter, formatNames } from '@plant-store/formats';
import { plantColumns } from '@plant-store/schemas/plain';
import { createDatabase, hasDevFull } from '@plant-store/test-setup';
import fc from 'fast-check';
import postgres from 'postgres';
import { expect, inject, it, vi } from 'vitest';
import { anyPlant } from '../../../../packages/formats/test/fixtures/any-plant.ts';
import { embeddedDatabase, useDatabase } from '../fixtures/database.ts';
import { useDirectory } from '../fixtures/plant-files.ts';
import { main, outputOf, run, startInShell } from '../fixtures/run-program.ts';

const directory = useDirectory();
const database = useDatabase({ isMigrated: true });
const { env } = database;

const sample = fc.sample(anyPlant, { numRuns: 500, seed: 1 });
const anyPlants = [...new Map(sample.map((plant) => [plant.id, plant])).values()];

async function load(plants: Parameters<PlantStore['load']>[0]): Promise<void> {
  const store = await openPlantStore({ databaseUrl: env.DATABASE_URL });
  await store.load(plants);
  await store.close();
}

/** Computes one MD5 checksum from all columns of the plants. */
const checksum = `md5(string_agg(concat_ws('|', id, length(name), name, tag is null, tag,
  extract(epoch from created_at)), '|' order by id))`;

const times = [
  ...['2026-11-21T22:14:13.123456Z', '2026-11-21T22:14:13.1Z', '2024-02-29T00:00:00Z'],
  ...['1969-12-31T23:59:59.999999Z', '12026-01-01T00:00:00Z', '0044-03-15T12:00:00Z BC'],
  ...['infinity', '-infinity'],
];

it.each([
  ['ndjson', []],
  ['csv', ['--gzip', '--paged']],
])('an import restores every plant of an exported %s file with %j', async (format, options) => {
  await load(anyPlants.map((plant, i) => ({ ...plant, createdAt: times[i % times.length] })));
  const [before] = await database.sql.unsafe(`select ${checksum} as md5 from plants`);

  const newPostgres = async () => ({ DATABASE_URL: await createDatabase(inject('postgresUrl')) });
  const second =
    options.length === 0 ? await embeddedDatabase(directory.path('store')) : await newPostgres();
  const third = await newPostgres();
  const args = ['--format', format, ...options];
  // The plants go from Postgres to a second database, and from the second database to a third database.
  const exported = await outputOf(['export', ...args], { env });
  const importArgs = ['import', '-', '--format', format, '--rejects', directory.path('rejects')];
  expect(await run(importArgs, { env: second, input: exported })).toMatchObject({ code: 0 });
  const again = await outputOf(['export', ...args], { env: second });
  expect(again.equals(exported)).toBe(true);
  expect(await run(importArgs, { env: third, input: again })).toMatchObject({ code: 0 });
  const restored = postgres(third.DATABASE_URL);
  expect(await restored.unsafe(`select ${checksum} as md5 from plants`)).toEqual([before]);
  await restored.end();
});

it.each(formatNames)('exports the same %s that createPlantWriter writes', async (format) => {
  const sorted = anyPlants.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await load(anyPlants);
  const args = ['export', '--format', format, '--columns', 'id,name,tag'];
  const { createdAt: _, ...columns } = plantColumns;
  const { header, row } = createPlantWriter(format, columns);
  expect((await run(args, { env })).stdout).toBe(header + sorted.map(row).join(''));
});

it('writes the times of an export in UTC with microseconds', async () => {
  const { sql } = database;
  await sql`alter database ${sql(sql.options.database)} set timezone = 'Asia/Kolkata'`;
  await sql`alter database ${sql(sql.options.database)} set datestyle = 'German'`;
  await sql`insert into plants values (1, 'a', null, '2026-11-21T22:14:13.120456+05:30')`;
  const ndjson = await run(['export'], { env });
  expect(ndjson.stdout).toBe('{"id":1,"name":"a","created_at":"2026-11-21T16:44:13.120456Z"}\n');
  const csv = await run(['export', '--format', 'csv', '--columns', 'created_at,tag,id'], { env });
  expect(csv.stdout).toBe('created_at,tag,id\n2026-11-21 16:44:13.120456+00,,1\n');
});

const tag = `it's \\ "x"; --`;

it.each([
  ['with the given tag', ['--tag', tag], '1'],
  ['that were created since a time', ['--since', '2026-02-01'], '2'],
])('writes only the plants %s', async (_, options, id) => {
  await database.sql`insert into plants values
    (1, 'a', ${tag}, '2026-01-31T23:59:59Z'), (2, 'b', 'x', '2026-02-01'), (3, 'c', null, '2026-01-01')`;
  const { stdout } = await run(['export', ...options, '--columns', 'id'], { env });
  expect(stdout).toBe(`{"id":${id}}\n`);
});

it.runIf(hasDevFull).each(['export', 'list'])(
  '%s says that the disk for the output is full',
  async (command) => {
    const { sql } = database;
    await sql`insert into plants (id, name) select id, 'plant' from generate_series(1, 10000) as id`;
    const { code, stderr } = await startInShell(`exec "$@" ${command} > /dev/full`, { env }).result;
    expect(code).toBe(1);
    expect(stderr).toContain(
      'plant-store: the disk of the output is full, so the output is incomplete: free',
    );
    await vi.waitFor(async () => {
      const active = sql`select from pg_stat_activity where query like 'copy%' and state = 'active'`;
      expect(await active).toEqual([]);
    });
  },
);

it('says that the output is incomplete when the database ends the session', async () => {
  const { sql } = database;
  await sql`insert into plants (id, name) select id, repeat('x', 1000) from generate_series(1, 20000) as id`;
  // The test does not read the output until the session ends, so the export must wait.
  const child = spawn(process.execPath, [main, 'export'], { env });
  await once(child.stdout, 'readable');
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where query like 'copy%'`;
  child.stdout.resume();
  const errors = text(child.stderr);
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(await errors).toContain('the database did not respond');
});
