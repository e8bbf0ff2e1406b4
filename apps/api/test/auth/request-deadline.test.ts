import postgres from 'postgres';
import { expect, it } from 'vitest';
import { startServer } from '../fixtures/running-server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

it('responds with 503 in time while the database does not respond, and with 200 when the database responds again', async () => {
  const server = await startServer('Postgres');
  const sql = postgres(server.databaseUrl ?? '');
  const other = await sql.reserve();
  await other`begin`;
  await other`lock table plants in access exclusive mode`;

  const plant = '{"id":1,"name":"Monstera deliciosa"}';
  const send = () => Promise.all(surfaces.map((surface) => surface.send(server, plant)));
  const [responses, ready, live] = await Promise.all([
    send(),
    fetch(`${server.url}/readyz`),
    fetch(`${server.url}/livez`),
  ]);
  for (const { status, headers, body } of responses) {
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(body).toEqual({
      error: 50300,
      // Usually the time limit of the database ends first. On a very busy machine, the time limit of the
      // request does.
      message: expect.stringMatching(
        /^the database cannot do this now \(SQLSTATE 55P03\): nothing was written, send it again later$|may not be stored/,
      ),
    });
  }
  expect(ready.status).toBe(503);
  expect(live.status).toBe(200);

  await other`rollback`;
  other.release();
  for (const { status, body } of await send()) {
    expect({ status, body }).toEqual({ status: 200, body: { name: 'Monstera deliciosa' } });
  }
  await sql.end();
  expect(await server.stopAndRead()).toEqual([{ id: 1n, name: 'Monstera deliciosa', tag: null }]);
});
