import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase } from '@plant-store/test-postgres';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type StartedProcess, startProcess } from './started-process.ts';

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

describe('on the embedded database', () => {
  it('prints where everything is, the token of its first run, and a command that works', async () => {
    const server = start();
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

  it('says what is wrong when it cannot be reached, without the password', async () => {
    const server = start({ DATABASE_URL: 'postgres://someone:hidden@127.0.0.1:1/plants' });
    expect(await server.ended()).toBe(1);
    expect(server.output()).toMatch(/did not start\.\n.*ECONNREFUSED 127\.0\.0\.1:1.*DATABASE_URL/);
    expect(server.output()).not.toContain('hidden');
  });
});

describe('with settings that it cannot start with', () => {
  it('names all of them at once, each with its fix, and shows no secret', async () => {
    const server = start({
      PORT: '70000',
      DATABASE_URL: 'mysql://someone:hidden@db/plants',
      PLANT_STORE_TOKEN: 'two words',
      PLANT_STORE_RATE_LIMIT: '0',
      LOG_LEVEL: 'loud',
    });
    expect(await server.ended()).toBe(1);
    expect(server.output()).toBe(`The plant store did not start.
  PORT is "70000": set a port from 0 to 65535, where 0 picks a free one
  DATABASE_URL is not valid: set postgres://user:password@host:port/database, or leave it out for the embedded database
  PLANT_STORE_TOKEN is not valid: use letters, digits and - . _ ~ + / only, = at the end
  PLANT_STORE_RATE_LIMIT is "0": set how many requests a minute one address may send, or leave it out for no limit
  LOG_LEVEL is "loud": set one of fatal, error, warn, info, debug, trace, silent
`);
  });

  it.each(['abc', '-1', '80.5', '1e3', ' '])('refuses the port %j', async (PORT) => {
    const server = start({ PORT });
    expect(await server.ended()).toBe(1);
    expect(server.output()).toContain(`PORT is ${JSON.stringify(PORT)}`);
  });

  it('takes an empty setting as one that is not set', async () => {
    const server = start({ PLANT_STORE_TOKEN: '', DATABASE_URL: '', LOG_LEVEL: '' });
    expect(await shell(await curl(server))).toBe(monstera);
  });

  it('says so when the port is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number }; // It listens on a port, not on a pipe.
    const server = start({ PORT: String(port) });
    expect(await server.ended()).toBe(1);
    expect(server.output()).toMatch(/EADDRINUSE.*set PORT and HOST to an address that is free/);
    other.close();
  });
});

it('finishes the requests under way when it is told to stop', async () => {
  const server = start({ PLANT_STORE_TOKEN: 'secret' });
  const [, url] = await server.printed(/REST +(\S+)/);
  const create = (id: number) =>
    fetch(url ?? '', {
      method: 'POST',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: JSON.stringify({ id, name: 'x' }),
    });
  await create(0);
  const creates = Array.from({ length: 50 }, (_, id) => create(id));
  await Promise.race(creates);
  expect(await stop(server)).toBe(0);
  const outcomes = await Promise.allSettled(creates);
  const answered = outcomes.flatMap((o) => (o.status === 'fulfilled' ? [o.value.status] : []));
  expect(new Set(answered)).toEqual(new Set([200]));
});
