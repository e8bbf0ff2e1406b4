import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase, hasPosixShell, startOnPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';

let databaseUrl: string;
let server: Awaited<ReturnType<typeof startOnPostgres>>;
let directory: string;
/** This file has only the first houseplants, because the script starts curl for each plant. */
let fewPlants: string;
const lines = (await readFile('houseplants.ndjson', 'utf8')).trimEnd().split('\n');

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  server = await startOnPostgres(databaseUrl);
  directory = await mkdtemp(join(tmpdir(), 'plant-store-add-plants-'));
  fewPlants = join(directory, 'plants.ndjson');
  await writeFile(fewPlants, lines.slice(0, 10).join('\n'));
});

afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

const addPlants = (files: string[] = [], settings = server.env) =>
  promisify(execFile)('./add-plants.sh', files, { env: settings, timeout: 240_000 });

it.runIf(hasPosixShell)(
  'creates every houseplant over REST and prints their number',
  { timeout: 240_000 },
  async () => {
    expect(lines.length).toBeGreaterThanOrEqual(150);
    expect((await addPlants()).stdout).toBe(`${lines.length} added, 0 rejected\n`);

    const sql = postgres(databaseUrl);
    const rows = await sql`select id::int, name, tag from plants order by id`;
    expect([...rows]).toEqual(lines.map((line) => JSON.parse(line)));

    // In a second run, the store already has all plants.
    expect((await addPlants([fewPlants])).stdout).toBe('10 added, 0 rejected\n');
    expect(await sql`select count(*)::int from plants`).toEqual([{ count: lines.length }]);
    await sql.end();
  },
);

it.runIf(hasPosixShell)('prints each rejected plant and the reason', async () => {
  const env = { ...server.env, PLANT_STORE_TOKEN: 'wrong' };
  const result = await addPlants([fewPlants], env).catch((error) => error);
  expect(result).toMatchObject({
    code: 1,
    stdout: '0 added, 10 rejected\n',
  });
  expect(result.stderr).toContain(
    '{"id":1,"name":"Adenium obesum","tag":"Apocynaceae"}: {"error":40101,',
  );
});
