import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, inject, it } from 'vitest';

const output = `created { name: 'Monstera deliciosa', tag: 'Araceae' }
read Monstera deliciosa
created 3 more
read 2 of them; the next page is after 9007199254740994n
rejected 40900 id 1 belongs to another plant: choose an id that is free
`;

const run = async (where: string) =>
  (await promisify(execFile)(process.execPath, ['internal-tool.ts', where])).stdout;

it('creates plants in a directory, and finds these plants in a second run', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-tool-'));
  expect(await run(directory)).toBe(output);
  expect(await run(directory)).toBe(output);
  await rm(directory, { recursive: true });
});

it('creates plants in a Postgres', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  expect(await run(databaseUrl)).toBe(output);
  const sql = postgres(databaseUrl);
  expect(await sql`select id, name, tag from plants order by id`).toEqual([
    { id: '1', name: 'Monstera deliciosa', tag: 'Araceae' },
    { id: '9007199254740993', name: 'Ficus lyrata', tag: null },
    { id: '9007199254740994', name: 'Hoya carnosa', tag: null },
    { id: '9007199254740995', name: 'Pilea peperomioides', tag: null },
  ]);
  await sql.end();
});
