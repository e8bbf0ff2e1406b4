import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createDatabase, startOnPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';

let databaseUrl: string;
let server: Awaited<ReturnType<typeof startOnPostgres>>;

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  server = await startOnPostgres(databaseUrl);
});

afterAll(() => server.stop());

const addPlant = (...plant: string[]) =>
  promisify(execFile)(process.execPath, ['add-plant.ts', ...plant], { env: server.env });

it('creates a plant with a client generated from the document', async () => {
  const { stdout } = await addPlant('1', 'Monstera deliciosa', 'Araceae');
  expect(stdout).toBe('created Monstera deliciosa, tagged Araceae\n');
  const sql = postgres(databaseUrl);
  expect(await sql`select id::int, name, tag from plants`).toEqual([
    { id: 1, name: 'Monstera deliciosa', tag: 'Araceae' },
  ]);
  await sql.end();
});

it('reads the error where the plant is refused', async () => {
  await expect(addPlant('1.5', 'Ficus')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error 40001: invalid input: id must be an integer/),
  });
});
