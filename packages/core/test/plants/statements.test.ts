import { eq, sql } from 'drizzle-orm';
import { QueryBuilder } from 'drizzle-orm/pg-core';
import { expect, it } from 'vitest';
import { plants } from '../../src/database/tables.ts';
import { prepareStatement } from '../../src/plants/statement.ts';

const select = new QueryBuilder().select({ id: plants.id }).from(plants);

it('runs a statement by the values of its placeholders, which are null when they are missing', async () => {
  const sent: unknown[] = [];
  const query = async (...statement: unknown[]) => {
    sent.push(statement);
    return { rows: [], count: 0 };
  };
  const [name, tag] = [sql.placeholder('name'), sql.placeholder('tag')];
  const run = prepareStatement(query, select.where(sql`name = ${name} and tag = ${tag}`));
  await run({ tag: 'Araceae', name: 'Monstera' });
  await run({ name: 'Ficus' });
  const text = 'select "id" from "plants" where name = $1 and tag = $2';
  expect(sent).toEqual([
    [text, ['Monstera', 'Araceae']],
    [text, ['Ficus', null]],
  ]);
});

it('accepts no statement with a value in it, which every run would repeat', () => {
  const query = () => Promise.reject(new Error('not called'));
  expect(() => prepareStatement(query, select.where(eq(plants.id, 5n)))).toThrow(
    'the statement has a value in it: select "id" from "plants"',
  );
});
