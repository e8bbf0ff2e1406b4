import { createDatabase, startOnPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, inject, it } from 'vitest';
import { run } from './fixtures/run-program.ts';

/** Works when a plant has the price that docs/worked-examples.md adds. */
it('stores the price of a plant, from REST, tRPC, CSV and NDJSON', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const server = await startOnPostgres(databaseUrl);
  const { PLANT_STORE_URL: url, PLANT_STORE_TOKEN: token } = server.env;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = async (path: string, body: string) => {
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body });
    return { status: response.status, body: await response.text() };
  };
  const cli = (args: string[], input = '') =>
    run(args, { env: { DATABASE_URL: databaseUrl }, input });

  const plant = '"name":"Monstera deliciosa","price":12.5';
  const created = { status: 200, body: `{${plant}}` };
  expect(await post('/plants', `{"id":1,${plant}}`)).toEqual(created);
  expect(await post('/plants', `{"id":1,${plant}}`)).toEqual(created);
  expect(await post('/plants', '{"id":1,"name":"Monstera deliciosa","price":9}')).toMatchObject({
    status: 409,
  });
  expect(await post('/trpc/createPlant', `{"json":{"id":2,${plant}}}`)).toMatchObject({
    status: 200,
  });

  await cli(
    ['import', '-', '--format', 'csv'],
    'id,name,price\n3,Hoya,0.1\n4,Pilea,\n5,Ficus,dear\n',
  );
  await cli(
    ['import', '-'],
    '{"id":6,"name":"Hoya","price":0.1}\n{"id":1,"name":"Monstera deliciosa","price":9}\n',
  );
  const sql = postgres(databaseUrl);
  expect([...(await sql`select id::int, price from plants order by id`)]).toEqual([
    { id: 1, price: 12.5 },
    { id: 2, price: 12.5 },
    { id: 3, price: 0.1 },
    { id: 4, price: null },
    { id: 6, price: 0.1 },
  ]);
  await sql.end();
  expect((await cli(['export', '--columns', 'id,price'])).stdout).toContain(
    '{"id":3,"price":0.1}\n{"id":4}\n',
  );
  expect((await cli(['export', '--format', 'csv', '--columns', 'id,price'])).stdout).toContain(
    'id,price\n1,12.5\n',
  );
  await server.stop();
});
