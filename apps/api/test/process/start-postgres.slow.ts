import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import {
  createDatabase,
  hasPosixShell,
  hasPosixSignals,
  listen,
  startPostgres,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, inject, it, vi } from 'vitest';
import {
  printedCommand,
  runInShell,
  serve,
  startProgram,
  stopProgram,
  temporaryDirectory,
} from '../fixtures/program.ts';
import { post } from '../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"Monstera deliciosa"}';

it.runIf(hasPosixShell)(
  'prints commands that create an access token and a plant, and never prints the password',
  async () => {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const sql = postgres(databaseUrl, { onnotice() {} });
    await sql.unsafe(`
      create role with_password;
      create role gardener login superuser in role with_password password 'hidden'`);
    const url = Object.assign(new URL(databaseUrl), { username: 'gardener', password: 'hidden' });
    const server = startProgram({ DATABASE_URL: url.href });
    const [, create = ''] = await server.printed(/^ {2}(export .*)$/m);
    const createPlant = await printedCommand(server);
    expect(server.output()).toMatch(
      /^The plant store is open\. Its clients need an access token\./m,
    );

    const env = { PATH: await pathWithNpx(), PGPASSWORD: 'hidden' };
    expect(await runInShell(`cd /\n${create}\n${createPlant}`, env)).toBe(
      '{"name":"Monstera deliciosa","tag":"Araceae"}',
    );
    await stopProgram(server);
    expect(server.output()).not.toContain('hidden');
    await sql`drop owned by gardener cascade`;
    await sql`drop role gardener, with_password`;
    await sql.end();
  },
);

/** Returns a PATH with an `npx` that runs the installed pnpm, so that the tests need no registry. */
async function pathWithNpx(): Promise<string> {
  const directory = await temporaryDirectory();
  const script = '#!/bin/sh\nshift 2\nexec pnpm "$@"\n';
  await writeFile(join(directory, 'npx'), script, { mode: 0o755 });
  return `${directory}:${process.env['PATH']}`;
}

it('starts while the database is down, and is ready when the database is up', async () => {
  const database = await startPostgres({ fsync: 'off' });
  await database.halt();
  const server = await serve({ DATABASE_URL: database.url });
  await server.printed(
    /^\nThe database does not respond yet: nothing accepts connections there \(.*ECONNREFUSED.*\): check .*\.\nThe server tries again/m,
  );
  const status = async (path: string) => (await fetch(server.url + path)).status;
  expect([await status('/livez'), await status('/readyz')]).toEqual([200, 503]);
  const unavailable = await post(server, '/plants', plant);
  expect(await unavailable.json()).toMatchObject({ error: 50300 });

  await database.start();
  await vi.waitFor(async () => expect(await status('/readyz')).toBe(200));
  expect((await post(server, '/plants', plant)).status).toBe(200);
  await server.printed(/"msg":"the database responds: the plant store is open"/);
  await stopProgram(server);
  await database.stop();
});

it.runIf(hasPosixSignals)('exits immediately on SIGTERM while the database is silent', async () => {
  const silent = createServer();
  const { port } = new URL(await listen(silent));
  const server = startProgram({ DATABASE_URL: `postgres://someone@127.0.0.1:${port}/plants` });
  await once(silent, 'connection');
  expect(await stopProgram(server)).toBe(0);
  expect(server.output()).toBe('');
  silent.close();
});

it('starts when a server that is not Postgres listens at DATABASE_URL', async () => {
  const other = createHttpServer();
  const { port } = new URL(await listen(other));
  const server = startProgram({
    DATABASE_URL: `postgres://someone:hidden@127.0.0.1:${port}/plants`,
  });
  await server.printed(
    /The database does not respond yet: .*\(the database closed the connection\)/,
  );
  await stopProgram(server);
  expect(server.output()).not.toContain('hidden');
  other.close();
});

it.each([
  ['the database does not exist', { pathname: 'none' }, /"none" does not exist\): create that/],
  [
    'the user does not exist',
    { username: 'none', password: 'hidden' },
    /"none" does not exist\): check the user/,
  ],
])('exits with the reason and the fix when %s', async (_case, wrong, message) => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const server = startProgram({ DATABASE_URL: Object.assign(new URL(databaseUrl), wrong).href });
  expect(await server.ended()).toBe(1);
  expect(server.output()).toMatch(/did not start\.\n {2}the database cannot be used \(/);
  expect(server.output()).toMatch(message);
  expect(server.output()).not.toContain('hidden');
});
