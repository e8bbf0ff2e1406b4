import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createPlantFeed } from '../../src/changes/plant-feed.ts';
import type { Database, Run } from '../../src/database/database.ts';
import { deadlineIn } from '../../src/database/deadline.ts';
import { openDatabase } from '../../src/database/open-database.ts';
import { createPlantLoader } from '../../src/plants/bulk/plant-loader.ts';
import { createPlantReader } from '../../src/plants/plant-reader.ts';
import { createPlantStatements } from '../../src/plants/statements.ts';

/** The texts of all statements on plants. */
const texts = new Set<string>();

let database: Database;
let sql: postgres.Sql;

const recording =
  (run: Run): Run =>
  (text, ...rest) => {
    texts.add(text);
    return run(text, ...rest);
  };

beforeAll(async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  sql = postgres(databaseUrl);
  database = await openDatabase({ databaseUrl }, { requireConnection: true });
  const run = recording(database.run);
  const bulk = { ...database.bulk, run: recording(database.bulk.run) };
  const statements = createPlantStatements(run);
  const reader = createPlantReader({ ...database, run }, async () => undefined);
  const deadline = deadlineIn(60_000);
  const plant = { id: 1n, name: 'Hoya', tag: 'Apocynaceae' };

  await statements.insert([plant], deadline);
  await statements.find([1n], deadline);
  await statements.findDurable([1n], deadline);
  await statements.ready(deadline);
  for (const query of [
    {},
    { tag: 'Apocynaceae' },
    { after: 0n },
    { tag: 'Apocynaceae', after: 0n },
    { search: 'hoy' },
    { search: 'hoy', tag: 'Apocynaceae', after: 0n },
  ]) {
    await reader.list({ limit: 10, ...query });
  }
  await createPlantFeed({ run }).changes({});
  await createPlantLoader(bulk).load([plant, { ...plant, id: 2n }, { ...plant, tag: 'x' }]);
  await statements.delete(1n, deadline);
});

afterAll(async () => {
  await database.close();
  await sql.end();
});

it('every statement is valid', async () => {
  for (const text of texts) await sql.unsafe(text).describe();
  expect(texts.size).toBeGreaterThan(10);
});
