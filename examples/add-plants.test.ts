import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { createDatabase, hasPosixShell, startOnPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';

let databaseUrl: string;
let server: Awaited<ReturnType<typeof startOnPostgres>>;

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  server = await startOnPostgres(databaseUrl);
});

afterAll(() => server.stop());

const addPlants = (settings = server.env) =>
  promisify(execFile)('./add-plants.sh', { env: settings, timeout: 240_000 });

it.runIf(hasPosixShell)(
  'creates every houseplant over REST and prints how many',
  { timeout: 240_000 },
  async () => {
    const lines = (await readFile('houseplants.ndjson', 'utf8')).trimEnd().split('\n');
    expect(lines.length).toBeGreaterThanOrEqual(150);
    expect((await addPlants()).stdout).toBe(`${lines.length} added, 0 rejected\n`);

    const sql = postgres(databaseUrl);
    const rows = await sql`select id::int, name, tag from plants order by id`;
    expect([...rows]).toEqual(lines.map((line) => JSON.parse(line)));

    // A second run changes nothing.
    expect((await addPlants()).stdout).toBe(`${lines.length} added, 0 rejected\n`);
    expect(await sql`select count(*)::int from plants`).toEqual([{ count: lines.length }]);
    await sql.end();
  },
);

it.runIf(hasPosixShell)('prints each plant that was rejected, and why', async () => {
  const result = await addPlants({ ...server.env, PLANT_STORE_TOKEN: 'wrong' }).catch(
    (error) => error,
  );
  expect(result).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^0 added, \d+ rejected/),
  });
  expect(result.stderr).toContain(
    '{"id":1,"name":"Adenium obesum","tag":"Apocynaceae"}: {"error":40101,',
  );
});
