import { expect, it, vi } from 'vitest';
import { errorExamples } from '../../openapi/error-examples.ts';
import { lockPlants } from '../fixtures/lock-plants.ts';
import { shareServer, startServerOn } from '../fixtures/running-server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"x"}';
const server = shareServer();

it('responds with 503 in time while the database is silent, and with 200 afterwards', async () => {
  const unlock = await lockPlants(server.databaseUrl);
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
      // Usually Postgres ends the locked statement before the server ends the request. On a very busy
      // machine, the server may end the request first.
      message: expect.stringMatching(
        /^the database cannot do this now \(SQLSTATE 55P03\): nothing was written, send it again later$|may not be stored/,
      ),
    });
  }
  expect([ready.status, live.status]).toEqual([503, 200]);

  await unlock();
  await vi.waitFor(async () => {
    for (const { status, body } of await send()) {
      expect({ status, body }).toEqual({ status: 200, body: { name: 'x' } });
    }
  });
  const { plants } = await server.store.list({ limit: 10 });
  expect(plants).toMatchObject([{ id: 1n, name: 'x' }]);
});

it.each(surfaces)(
  'responds with 500 over $name when the store has a bug, and describes the bug only in the log',
  async (surface) => {
    const create = () => Promise.reject(new TypeError('a bug'));
    const failing = await startServerOn(server.store, { create });
    expect(await surface.send(failing, plant)).toMatchObject({
      status: 500,
      body: { error: 50000, message: errorExamples.internal },
    });
    const [logged] = failing.log.map((line) => JSON.parse(line)).filter(({ err }) => err);
    expect(logged).toMatchObject({
      level: 50,
      reqId: expect.any(String),
      err: { type: 'TypeError', message: 'a bug', at: expect.stringMatching(/\.ts:\d+$/) },
    });
    await failing.stop();
  },
);
