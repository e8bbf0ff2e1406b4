import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createPlantLoader } from '../../src/bulk/plant-loader.ts';
import { createPlantFeed } from '../../src/changes/plant-feed.ts';
import type { Database } from '../../src/database/database.ts';
import { deadlineIn } from '../../src/database/deadline.ts';
import type { Run } from '../../src/database/verbs.ts';
import { openDatabase } from '../../src/open-database.ts';
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
  const recorded = {
    ...database,
    read: recording(database.read),
    write: recording(database.write),
  };
  const statements = createPlantStatements(recorded);
  const reader = createPlantReader(recorded);
  const deadline = deadlineIn(60_000);
  const plant = { id: 1n, name: 'Hoya', tag: 'Apocynaceae' };

  await statements.insert([plant], deadline);
  await statements.find([1n], deadline);
  await statements.findDurable([1n], deadline);
  await statements.ready();
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
  await createPlantFeed({ read: recorded.read }).changes({});
  await createPlantLoader(recorded).load([plant, { ...plant, id: 2n }, { ...plant, tag: 'x' }]);
  await statements.delete(1n, { deadline });
});

afterAll(async () => {
  await database.close();
  await sql.end();
});

it('every statement is valid', async () => {
  for (const text of texts) await sql.unsafe(text).describe();
  expect(texts.size).toBeGreaterThan(10);
});
