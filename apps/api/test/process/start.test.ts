import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  createDatabase,
  type StartedProcess,
  startPostgres,
  startProcess,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { startIdentityProvider } from '../fixtures/identity-provider.ts';
import { post } from '../fixtures/surfaces.ts';

const started: StartedProcess[] = [];
let dataDirectory: string;

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'plant-store-start-'));
});

afterEach(async () => {
  for (const { child } of started.splice(0)) child.kill('SIGKILL');
  await rm(dataDirectory, { recursive: true, force: true });
});

function start(env: Record<string, string> = {}): StartedProcess {
  const process = startProcess({ PLANT_STORE_DATA_DIR: dataDirectory, ...env });
  started.push(process);
  return process;
}

const stop = (process: StartedProcess) => {
  process.child.kill('SIGTERM');
  return process.ended();
};

const shell = async (command: string, env: Record<string, string> = {}) =>
  (await promisify(execFile)('sh', ['-c', command], { env: { PATH: process.env['PATH'], ...env } }))
    .stdout;

/** The command that the server prints for pasting. */
const curl = async (server: StartedProcess) => (await server.printed(/^ {2}(curl .*)$/m))[1] ?? '';

const monstera = '{"name":"Monstera deliciosa","tag":"Araceae"}';

it('makes the embedded database, prints where everything is, the token of its first run, and a command that works', async () => {
  // An empty setting is one that is not set.
  const server = start({ PLANT_STORE_TOKEN: '', DATABASE_URL: '', LOG_LEVEL: '' });
  expect(await shell(await curl(server))).toBe(monstera);
  expect(await shell(await curl(server))).toBe(monstera);

  const [, url = ''] = await server.printed(/REST +(http:\/\/127\.0\.0\.1:\d+)\/plants/);
  for (const path of ['/trpc', '/docs', '/openapi.json']) {
    expect(server.output()).toContain(`${url}${path}\n`);
  }
  for (const path of ['/docs/', '/openapi.json', '/livez', '/readyz']) {
    expect((await fetch(url + path)).status).toBe(200);
  }
});

describe('on the embedded database', () => {
  beforeEach(() => cpSync(inject('dataDirectory'), dataDirectory, { recursive: true }));

  it('keeps its plants and its token, which only its owner can read', async () => {
    const first = start();
    const [, token] = await first.printed(/Access token +(plant_[\w-]{43}) /);
    await shell(await curl(first));
    expect(await stop(first)).toBe(0);
    expect((await stat(join(dataDirectory, 'token'))).mode & 0o777).toBe(0o600);

    const second = start();
    expect((await second.printed(/Access token +(\S+)/))[1]).toBe(token);
    const other = (await curl(second)).replace('deliciosa', 'adansonii');
    expect(await shell(other)).toContain('"error":40900,');
    expect(await shell(await curl(second))).toBe(monstera);
  });

  it('refuses to start twice on one data directory and names the first process', async () => {
    const first = start();
    await first.printed(/Add a plant/);
    const second = start();
    expect(await second.ended()).toBe(1);
    expect(second.output()).toContain(
      `the data directory ${dataDirectory} is in use by process ${first.child.pid}, started `,
    );
    expect(await shell(await curl(first))).toBe(monstera);
  });

  it('keeps what it acknowledged when it is killed, and starts again', async () => {
    const first = start();
    await shell(await curl(first));
    first.child.kill('SIGKILL');
    await first.ended();
    const second = start();
    const other = (await curl(second)).replace('deliciosa', 'adansonii');
    expect(await shell(other)).toContain('"error":40900,');
  });

  it('revokes the first token when another takes its place, and lets only its owner read it', async () => {
    const first = start();
    const [, old = ''] = await first.printed(/Access token +(plant_[\w-]{43}) /);
    await stop(first);
    await writeFile(join(dataDirectory, 'token'), '', { mode: 0o644 });
    await chmod(join(dataDirectory, 'token'), 0o644);
    const second = start();
    const [, token = ''] = await second.printed(/Access token +(plant_[\w-]{43}) /);
    expect(await shell(await curl(second))).toBe(monstera);
    expect(await shell((await curl(second)).replace(token, old))).toContain('"error":40101,');
    expect((await stat(join(dataDirectory, 'token'))).mode & 0o777).toBe(0o600);
  });

  it('refuses a token file that holds no token, and a database that is damaged', async () => {
    const first = start();
    await first.printed(/Add a plant/);
    await stop(first);
    await writeFile(join(dataDirectory, 'token'), 'two words');
    const second = start();
    expect(await second.ended()).toBe(1);
    expect(second.output()).toContain(
      `${dataDirectory}/token holds no access token: delete the file`,
    );

    await rm(join(dataDirectory, 'postgres', 'PG_VERSION'));
    const third = start();
    expect(await third.ended()).toBe(1);
    expect(third.output()).toContain('is damaged, postgres/PG_VERSION is missing: restore it');
  });

  it('takes a token from PLANT_STORE_TOKEN instead, and never prints it', async () => {
    const server = start({ PLANT_STORE_TOKEN: 'not-to-be-printed' });
    const command = await curl(server);
    expect(await shell(command, { PLANT_STORE_TOKEN: 'not-to-be-printed' })).toBe(monstera);
    expect(await shell(command)).toContain('"error":40100,');
    expect(await stop(server)).toBe(0);
    expect(server.output()).not.toContain('not-to-be-printed');
  });
});

describe('on Postgres', () => {
  it('starts on an empty database, and stores what it answers', async () => {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const env = { DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN: 'secret' };
    const server = start(env);
    expect(await shell(await curl(server), env)).toBe(monstera);
    expect(await stop(server)).toBe(0);

    const sql = postgres(databaseUrl);
    expect(await sql`select id, name, tag from plants`).toEqual([
      { id: '9007199254740993', name: 'Monstera deliciosa', tag: 'Araceae' },
    ]);
    await sql.end();
  });

  it('says so where there is no access token', async () => {
    const server = start({ DATABASE_URL: await createDatabase(inject('postgresUrl')) });
    await server.printed(/Access token +none is set: start again with one in PLANT_STORE_TOKEN/);
  });

  it('starts before its database does, and opens once that is there', async () => {
    const database = await startPostgres({ fsync: 'off' });
    await database.halt();
    const server = start({ DATABASE_URL: database.url, PLANT_STORE_TOKEN: 'secret' });
    const [, url = ''] = await server.printed(/REST +(http:\S+)\/plants/);
    await server.printed(
      /Database +Postgres, which does not answer yet \(.*ECONNREFUSED.*\): check/,
    );
    const status = async (path: string) => (await fetch(url + path)).status;
    expect([await status('/livez'), await status('/readyz')]).toEqual([200, 503]);
    const command = await curl(server);
    const env = { PLANT_STORE_TOKEN: 'secret' };
    expect(await shell(command, env)).toContain('"error":50300,');

    await database.start();
    await vi.waitFor(async () => expect(await status('/readyz')).toBe(200), 10_000);
    expect(await shell(command, env)).toBe(monstera);
    expect(await stop(server)).toBe(0);
    await database.stop();
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends at once when it gets %s while it waits for its database',
    async (signal) => {
      const silent = createTcpServer().listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as { port: number }; // It listens on a port, not on a pipe.
      const server = start({ DATABASE_URL: `postgres://someone@127.0.0.1:${port}/plants` });
      await once(silent, 'connection');
      server.child.kill(signal);
      expect(await server.ended()).toBe(0);
      expect(server.output()).toBe('');
      silent.close();
    },
  );

  it('does not wait for what is no Postgres', async () => {
    const mute = createServer().listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as { port: number }; // It listens on a port, not on a pipe.
    const server = start({ DATABASE_URL: `postgres://someone:hidden@127.0.0.1:${port}/plants` });
    await server.printed(
      /Database +Postgres, which does not answer yet \(the database closed the connection\)/,
    );
    expect(await stop(server)).toBe(0);
    expect(server.output()).not.toContain('hidden');
    mute.close();
  });

  it.each([
    ['a database that is not there', { pathname: 'none' }, /"none" does not exist\): create that/],
    ['a user that is not there', { username: 'none' }, /"none" does not exist\): check the user/],
    ['a user without rights', { username: 'visitor' }, /permission denied .*\): grant its user/],
    [
      'a wrong password',
      { username: 'guarded', password: 'hidden' },
      /password .*\): check the user/,
    ],
  ])('ends where the database refuses it: %s', async (_, wrong, message) => {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const sql = postgres(databaseUrl);
    await sql.unsafe(`
      create role visitor login; create role with_password;
      create role guarded login in role with_password password 'right'`);
    const server = start({ DATABASE_URL: Object.assign(new URL(databaseUrl), wrong).href });
    expect(await server.ended()).toBe(1);
    expect(server.output()).toMatch(/did not start\.\n {2}the database cannot be used \(/);
    expect(server.output()).toMatch(message);
    expect(server.output()).not.toContain('hidden');
    await sql`drop role visitor, guarded, with_password`;
    await sql.end();
  });
});

it('takes the JWTs of the identity provider that it is told of, and limits failures', async () => {
  const provider = await startIdentityProvider();
  await provider.addKey('first');
  const server = start({
    DATABASE_URL: await createDatabase(inject('postgresUrl')),
    PLANT_STORE_JWT_ISSUER: provider.settings.issuer,
    PLANT_STORE_JWT_AUDIENCE: provider.settings.audience,
    PLANT_STORE_JWT_JWKS_URL: provider.settings.jwksUrl,
    PLANT_STORE_AUTH_FAILURE_LIMIT: '1',
  });
  const [, url = ''] = await server.printed(/REST +(http:\S+)\/plants/);
  const statusOf = async (token: string) =>
    (await post({ url, token }, '/plants', '{"id":1,"name":"x"}')).status;
  expect(await statusOf(await provider.sign())).toBe(200);
  expect(await statusOf('guess')).toBe(401);
  expect(await statusOf('guess')).toBe(429);
  await provider.stop();
});

describe('with settings that it cannot start with', () => {
  it('names all of them at once, each with its fix, and shows no secret', async () => {
    const server = start({
      PORT: '70000',
      DATABASE_URL: 'mysql://someone:hidden@db/plants',
      PLANT_STORE_TOKEN: 'two words',
      PLANT_STORE_RATE_LIMIT: '0',
      PLANT_STORE_AUTH_FAILURE_LIMIT: 'many',
      PLANT_STORE_JWT_ISSUER: 'https://id.example.com',
      PLANT_STORE_JWT_JWKS_URL: 'http://id.example.com/keys',
      PLANT_STORE_TRUST_PROXY: 'true',
      PLANT_STORE_METRICS_PORT: '-1',
      LOG_LEVEL: 'loud',
    });
    expect(await server.ended()).toBe(1);
    expect(server.output()).toBe(`The plant store did not start.
  PORT is "70000": set a port from 0 to 65535, where 0 picks a free one
  DATABASE_URL is not valid: set postgres://user:password@host:port/database, or leave it out for the embedded database
  PLANT_STORE_TOKEN is not valid: use letters, digits and - . _ ~ + / only, = at the end
  PLANT_STORE_RATE_LIMIT is "0": set how many requests a minute one address may send, or leave it out for no limit
  PLANT_STORE_AUTH_FAILURE_LIMIT is "many": set how many times a minute one address may fail to authenticate, or leave it out for no limit
  PLANT_STORE_JWT_JWKS_URL is not valid: set the address of the issuer’s keys: https, or http on this machine alone, without a password
  PLANT_STORE_TRUST_PROXY is "true": set addresses or subnets of proxies, such as 10.0.0.0/8, separated by commas
  PLANT_STORE_METRICS_PORT is "-1": set a port from 0 to 65535, where 0 picks a free one, or leave it out for no metrics
  LOG_LEVEL is "loud": set one of fatal, error, warn, info, debug, trace, silent
  PLANT_STORE_JWT_AUDIENCE is not set: set the \`aud\` of the JWTs that are accepted
`);
  });

  it.each(['abc', '-1', '80.5', '1e3', ' '])('refuses the port %j', async (PORT) => {
    const server = start({ PORT });
    expect(await server.ended()).toBe(1);
    expect(server.output()).toContain(`PORT is ${JSON.stringify(PORT)}`);
  });

  it('says so when the port is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number }; // It listens on a port, not on a pipe.
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const server = start({ PORT: String(port), DATABASE_URL: databaseUrl });
    expect(await server.ended()).toBe(1);
    expect(server.output()).toMatch(/cannot listen \(.*EADDRINUSE.*\): set HOST and PORT to/);
    other.close();
  });
});

it('has logged every request when it ends', async () => {
  const server = start({ DATABASE_URL: await createDatabase(inject('postgresUrl')) });
  const [, url = ''] = await server.printed(/REST +(\S+)\/plants/);
  for (let i = 0; i < 50; i++) expect((await fetch(`${url}/livez`)).status).toBe(200);
  expect(await stop(server)).toBe(0);
  expect(server.output().match(/"path":"\/livez","status":200/g)).toHaveLength(50);
  expect(server.output()).toMatch(/"msg":"stopping"}\n.*"msg":"stopped"}\n$/);
});
