import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { createDatabase, hasPosixSignals, startPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, inject, it, vi } from 'vitest';
import { printedUrl, startProgram, stopProgram } from '../fixtures/program.ts';
import { post } from '../fixtures/surfaces.ts';

const token = 'secret';
const plant = '{"id":9007199254740993,"name":"Monstera deliciosa","tag":"Araceae"}';

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number }; // It listens on a port, not on a pipe.
  return port;
}

it('starts on an empty database, and stores the plants that it acknowledges', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const server = startProgram({ DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN: token });
  const url = await printedUrl(server);
  expect((await post({ url, token }, '/plants', plant)).status).toBe(200);

  const sql = postgres(databaseUrl);
  expect(await sql`select id, name, tag from plants`).toEqual([
    { id: '9007199254740993', name: 'Monstera deliciosa', tag: 'Araceae' },
  ]);
  await sql.end();
});

it('tells how to set an access token when there is none', async () => {
  const server = startProgram({ DATABASE_URL: await createDatabase(inject('postgresUrl')) });
  await server.printed(/Access token +none is set: start again with one in PLANT_STORE_TOKEN/);
});

it('starts while its database is down, and is ready when the database is up', async () => {
  const database = await startPostgres({ fsync: 'off' });
  await database.halt();
  const server = startProgram({ DATABASE_URL: database.url, PLANT_STORE_TOKEN: token });
  const url = await printedUrl(server);
  await server.printed(/Database +Postgres, which does not answer yet \(.*ECONNREFUSED.*\): check/);
  const status = async (path: string) => (await fetch(url + path)).status;
  expect([await status('/livez'), await status('/readyz')]).toEqual([200, 503]);
  const unavailable = await post({ url, token }, '/plants', plant);
  expect(await unavailable.json()).toMatchObject({ error: 50300 });

  await database.start();
  await vi.waitFor(async () => expect(await status('/readyz')).toBe(200));
  expect((await post({ url, token }, '/plants', plant)).status).toBe(200);
  await stopProgram(server);
  await database.stop();
});

// Windows has no signals that a process can handle.
it.runIf(hasPosixSignals).each(['SIGTERM', 'SIGINT'] as const)(
  'exits at once on %s while it waits for its database',
  async (signal) => {
    const silent = createServer();
    const port = await listen(silent);
    const server = startProgram({ DATABASE_URL: `postgres://someone@127.0.0.1:${port}/plants` });
    await once(silent, 'connection');
    server.child.kill(signal);
    expect(await server.ended()).toBe(0);
    expect(server.output()).toBe('');
    silent.close();
  },
);

it('starts when a server that is not Postgres listens at DATABASE_URL', async () => {
  const other = createHttpServer();
  const port = await listen(other);
  const server = startProgram({
    DATABASE_URL: `postgres://someone:hidden@127.0.0.1:${port}/plants`,
  });
  await server.printed(
    /Database +Postgres, which does not answer yet \(the database closed the connection\)/,
  );
  await stopProgram(server);
  expect(server.output()).not.toContain('hidden');
  other.close();
});

it.each([
  ['the database does not exist', { pathname: 'none' }, /"none" does not exist\): create that/],
  ['the user does not exist', { username: 'none' }, /"none" does not exist\): check the user/],
  ['the user has no rights', { username: 'visitor' }, /permission denied .*\): grant its user/],
  [
    'the password is wrong',
    { username: 'guarded', password: 'hidden' },
    /password .*\): check the user/,
  ],
])('exits with the reason and the fix when %s', async (_case, wrong, message) => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const sql = postgres(databaseUrl);
  await sql.unsafe(`
    create role visitor login; create role with_password;
    create role guarded login in role with_password password 'right'`);
  const server = startProgram({ DATABASE_URL: Object.assign(new URL(databaseUrl), wrong).href });
  expect(await server.ended()).toBe(1);
  expect(server.output()).toMatch(/did not start\.\n {2}the database cannot be used \(/);
  expect(server.output()).toMatch(message);
  expect(server.output()).not.toContain('hidden');
  await sql`drop role visitor, guarded, with_password`;
  await sql.end();
});
