import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deadlineIn } from '../../../core/src/database/deadline.ts';
import type { Values } from '../../../core/src/database/query.ts';
import type { Run, Verbs } from '../../../core/src/database/verbs.ts';
import { createLane } from '../../../core/src/group-commit/lane.ts';
import { createPlantReader, type PlantReader } from '../../../core/src/plants/plant-reader.ts';
import { createPlantStatements } from '../../../core/src/plants/statements.ts';
import { openPostgres } from '../../../core/src/postgres/postgres-database.ts';
import { createCountOnShards } from '../../src/lanes/citus-statements.ts';
import { callHere } from '../../src/shards/feed-functions.ts';
import { call } from '../../src/shards/node-functions.ts';
import { createDistributedDatabase } from '../../test/fixtures/distributed-database.ts';

describe('statements on Citus', () => {
  let sql: postgres.Sql;
  let reader: PlantReader;
  let verbs: Verbs;
  let close: () => Promise<void>;
  let sent: { text: string; values: Values }[] = [];

  beforeAll(async () => {
    const { url } = await createDistributedDatabase();
    sql = postgres(url, { max: 1 });
    const database = await openPostgres(url);
    const recorded =
      (run: Run): Run =>
      (text, values, options) => {
        if (typeof values === 'function') throw new Error('statements that read have no deadline');
        sent.push({ text, values });
        return run(text, values, options);
      };
    verbs = { read: recorded(database.read), write: recorded(database.write) };
    const statements = createPlantStatements(verbs);
    const lane = createLane({ ...database, statements, onCommit() {} });
    reader = { ...createPlantReader(verbs), get: lane.get };
    close = () => Promise.all([sql.end(), database.close()]).then(() => {});
    await sql`
      insert into plants (id, name, tag)
      select i, 'plant ' || i, 'tag ' || i % 10 from generate_series(1, 20000) i`;
  });

  afterAll(() => close());

  it('runs a function on the node that receives the statement, without planning by Citus', async () => {
    const values = "(1, '1', '2030-01-01')";
    const plan = async (text: string) =>
      JSON.stringify(await sql.unsafe(`explain ${text.replace('($1, $2, $3)', values)}`));
    expect(await plan(call.delete)).toContain('Citus');
    expect(await plan(callHere(call.delete))).not.toContain('Citus');
  });

  const reads: Record<string, () => Promise<unknown>> = {
    'a get': () => reader.get(5n),
    'a list': () => reader.list({ limit: 100 }),
    'a list of another size': () => reader.list({ limit: 3, after: 10n }),
    'a list by tag': () => reader.list({ limit: 3, tag: 'tag 1', after: 10n }),
    'an export': () => Array.fromAsync(reader.read({ limit: 6_000 })),
    'an export by time': () => Array.fromAsync(reader.read({ since: new Date(0), limit: 10 })),
  };

  it.each(Object.keys(reads))('reads at most one page from each shard: %s', async (name) => {
    sent = [];
    await reads[name]?.();
    expect(sent).not.toEqual([]);
    for (const { text, values } of sent) {
      const limit = Math.max(...values.map(Number).filter((value) => value < 10_000), 100) + 1;
      const plan = await explain(text, values);
      // Each shard applies the limit, so no task returns more rows than a page.
      expect(plan.tasks).toBeGreaterThan(0);
      expect(plan.mostRowsOfATask).toBeLessThanOrEqual(limit);
    }
  });

  it('reads only a limited number of rows from each shard for a search', async () => {
    sent = [];
    const { plants, next } = await reader.list({ search: 'PLANT 19999', limit: 100 });
    expect([plants, next]).toEqual([[], 2_000n]);
    const [{ text, values } = { text: '', values: [] }] = sent;
    const plan = await explain(text, values);
    expect(plan.tasks).toBeGreaterThan(0);
    expect(plan.mostRowsOfATask).toBeLessThanOrEqual(2_000);
  });

  it('counts the rows of each shard only up to the limit', async () => {
    const count = createCountOnShards(verbs);
    const options = { deadline: deadlineIn(60_000) };
    expect(await count(30_000, {}, options)).toBe(20_000);
    expect(await count(30_000, { tag: 'tag 1' }, options)).toBe(2_000);
    expect(await count(30_000, { tag: 'tag %s' }, options)).toBe(0);
    sent = [];
    expect(await count(100, {}, options)).toBe(100);
    const [{ text, values } = { text: '', values: [] }] = sent;
    const results = await sql.unsafe(text, [...values]);
    expect(results.map(({ result }) => result)).toEqual(results.map(() => '100'));
    expect(results.length).toBeGreaterThan(1);
  });

  it('reads a page of plants with a frequent tag from the index, and reads no other rows', async () => {
    await sql`
      insert into plants (id, name, tag)
      select i, 'plant ' || i, case when i % 9 = 0 then 'frequent' else 'tag ' || i % 5000 end
      from generate_series(100000, 700000) i`;
    sent = [];
    await reader.list({ limit: 100, tag: 'frequent' });
    const [{ text, values } = { text: '', values: [] }] = sent;
    const { lines } = await explain(text, values);
    const rows = lines.map((line) => Number(/actual rows=(\d+)/.exec(line)?.[1] ?? 0));
    // Each of the four shards reads at most a page, and the coordinator reads the rows of the four shards.
    expect(Math.max(...rows)).toBeLessThanOrEqual(4 * 101);
    expect(lines.filter((line) => line.includes('Index Scan using plants_tag'))).toHaveLength(4);
  });

  /** Runs a statement, and returns the rows of each task. */
  async function explain(text: string, values: Values) {
    await sql`set citus.explain_all_tasks = on`;
    const rows = await sql.unsafe(
      `explain (analyze, verbose, costs off, timing off, summary off) ${text}`,
      [...values],
    );
    const lines = rows.map((row) => String(row['QUERY PLAN']));
    const taskRows = lines.flatMap((line, i) =>
      /-> +Task$/.test(line) ? [rowsAfter(lines.slice(i + 1))] : [],
    );
    return { tasks: taskRows.length, mostRowsOfATask: Math.max(...taskRows), lines };
  }

  /** Returns the number of rows in the first step of the plan of a task. */
  function rowsAfter(lines: string[]): number {
    const [, rows] =
      /actual rows=(\d+)/.exec(lines.find((line) => line.includes('actual rows')) ?? '') ?? [];
    return Number(rows);
  }
});
