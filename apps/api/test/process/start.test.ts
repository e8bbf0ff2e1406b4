import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  createDatabase,
  hasFileModes,
  hasPosixShell,
  hasPosixSignals,
  listen,
  type StartedProcess,
  startPostgres,
} from '@plant-store/test-setup';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { startPlantStore } from '../../src/index.ts';
import { serve, startProgram, stopProgram, temporaryDirectory } from '../fixtures/program.ts';
import { startForTest } from '../fixtures/server.ts';
import { get, post } from '../fixtures/surfaces.ts';

/** Copies a data directory with an embedded database, so that a program starts faster. */
async function preparedDataDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  cpSync(inject('dataDirectory'), directory, { recursive: true });
  return directory;
}

const plant = '{"id":1,"name":"Monstera deliciosa"}';

describe('the program', () => {
  it('prints its addresses, and responds at each of them', async () => {
    const server = await serve();
    await server.printed(/curl/);
    for (const path of ['/plants', '/trpc', '/docs', '/openapi.json']) {
      expect(server.output()).toContain(`${server.url}${path}\n`);
      expect((await get(server, path)).status).toBe(path === '/trpc' ? 404 : 200);
    }
  });

  it('does not start when its port is in use, and names the setting PORT', async () => {
    const { url } = await serve();
    const second = startProgram({
      PORT: new URL(url).port,
      DATABASE_URL: await createDatabase(inject('postgresUrl')),
    });
    expect(await second.ended()).toBe(1);
    expect(second.output()).toMatch(/EADDRINUSE.*PORT/);
  });
});

describe('on the embedded database', () => {
  const start = (directory: string, env: Record<string, string> = {}) =>
    startProgram({ PLANT_STORE_DATA_DIR: directory, ...env });
  /** Reads the token from the file that the program names, because standard output is not a terminal. */
  const printedToken = async ({ printed }: StartedProcess) => {
    const [, path = ''] = await printed(/Access token +in (.+)/);
    return (await readFile(path, 'utf8')).trim();
  };
  /** Runs the printed curl command in a POSIX shell. Returns the output of the command. */
  const runPrintedCommand = async ({ printed }: StartedProcess, env: NodeJS.ProcessEnv = {}) => {
    const [, command = ''] = await printed(/^ {2}(curl .*)$/m);
    const options = { env: { PATH: process.env['PATH'], ...env } };
    return (await promisify(execFile)('sh', ['-c', command], options)).stdout;
  };
  const created = '{"name":"Monstera deliciosa","tag":"Araceae"}';

  it.runIf(hasPosixShell)('a new store prints a command that creates a plant', async () => {
    // Empty settings count as unset.
    const settings = { PLANT_STORE_TOKEN: '', DATABASE_URL: '', LOG_LEVEL: '' };
    const server = start(await temporaryDirectory(), settings);
    for (const _ of ['first', 'repeated']) expect(await runPrintedCommand(server)).toBe(created);
    expect(server.output()).not.toContain(await printedToken(server));
  });

  it('a restarted store has all plants and the old token, whose file only its owner can read', async () => {
    const directory = await preparedDataDirectory();
    await writeFile(join(directory, 'token'), '', { mode: 0o644 });
    const first = start(directory);
    const token = await printedToken(first);
    await post({ url: await first.listening(), token }, '/plants', plant);
    await stopProgram(first);
    // Windows has no file modes. On Windows, the permissions of the data directory apply to its files.
    if (hasFileModes) expect((await stat(join(directory, 'token'))).mode & 0o777).toBe(0o600);
    const second = start(directory);
    expect(await printedToken(second)).toBe(token);
    const url = await second.listening();
    expect(await (await get({ url, token }, '/plants/1')).json()).toMatchObject({ id: 1 });
  });

  it.runIf(hasPosixShell)('a store accepts PLANT_STORE_TOKEN, and never prints it', async () => {
    const token = 'not-to-be-printed';
    const server = start(await preparedDataDirectory(), { PLANT_STORE_TOKEN: token });
    expect(await runPrintedCommand(server, { PLANT_STORE_TOKEN: token })).toBe(created);
    await expect(runPrintedCommand(server)).rejects.toMatchObject({
      stderr: expect.stringContaining('PLANT_STORE_TOKEN'),
    });
    await stopProgram(server);
    expect(server.output()).not.toContain(token);
  });
});

describe('on Postgres', () => {
  it('without a token, the program says how to create a token, and never prints the password', async () => {
    const url = new URL(await createDatabase(inject('postgresUrl')));
    url.password = 'hidden-password'; // The Postgres of the tests accepts any password.
    const server = startProgram({ DATABASE_URL: url.href });
    await server.printed(/token create/);
    await stopProgram(server);
    expect(server.output()).not.toContain('hidden-password');
  });

  it('the program starts while the database is down, and is ready when the database is up', async () => {
    const database = await startPostgres({ fsync: 'off' });
    onTestFinished(database.stop);
    await database.halt();
    const server = await serve({ DATABASE_URL: database.url });
    await server.printed(/ECONNREFUSED/);
    const status = async (path: string) => (await fetch(server.url + path)).status;
    expect([await status('/livez'), await status('/readyz')]).toEqual([200, 503]);
    expect(await (await post(server, '/plants', plant)).json()).toMatchObject({ error: 50300 });
    await database.start();
    await vi.waitFor(async () => expect(await status('/readyz')).toBe(200));
    await vi.waitFor(async () => expect((await post(server, '/plants', plant)).status).toBe(200));
    await stopProgram(server);
  });

  it.runIf(hasPosixSignals)('SIGTERM stops a program that waits for Postgres', async () => {
    const silent = createServer();
    onTestFinished(() => void silent.close());
    const { port } = new URL(await listen(silent));
    const server = startProgram({ DATABASE_URL: `postgres://someone@127.0.0.1:${port}/plants` });
    await once(silent, 'connection');
    expect(await stopProgram(server)).toBe(0);
  });

  it('the program exits with code 1, and says why, when the database does not exist', async () => {
    const url = new URL(inject('postgresUrl'));
    const server = startProgram({ DATABASE_URL: Object.assign(url, { pathname: 'none' }).href });
    expect(await server.ended()).toBe(1);
    expect(server.output()).toContain('"none" does not exist');
  });
});

describe('startPlantStore', () => {
  const start = async (options?: Parameters<typeof startPlantStore>[0]) => {
    const store = await startPlantStore(options);
    onTestFinished(store.close);
    return store;
  };

  it('ignores the settings in the environment', async () => {
    const variable = 'token-of-the-environment';
    process.env['PLANT_STORE_TOKEN'] = variable;
    onTestFinished(() => void delete process.env['PLANT_STORE_TOKEN']);
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const { url, token } = await start({ databaseUrl });
    expect((await post({ url, token }, '/plants', plant)).status).toBe(200);
    expect((await post({ url, token: variable }, '/plants', plant)).status).toBe(401);
  });

  it('starts a temporary store without options', async () => {
    const { url, token } = await start();
    expect((await post({ url, token }, '/plants', plant)).status).toBe(200);
    const another = await start();
    expect((await get(another, '/plants/1')).status).toBe(404);
  });

  it('rejects invalid settings', async () => {
    await expect(startPlantStore({ settings: { PORT: 'x' } })).rejects.toThrow('PORT');
  });
});

it('a server on a read replica serves reads, and has no feed', async () => {
  const primary = await startPostgres({ fsync: 'off' });
  onTestFinished(primary.stop);
  const writer = await startForTest({}, { databaseUrl: primary.url });
  await post(writer, '/plants', '{"id":1,"name":"Monstera deliciosa"}');
  const standby = await primary.startStandby();
  onTestFinished(standby.stop);
  const reader = await serve({ DATABASE_URL: standby.url });

  expect((await fetch(`${reader.url}/readyz`)).status).toBe(200);
  await vi.waitFor(async () => expect((await get(reader, '/plants/1')).status).toBe(200));
  expect(await (await get(reader, '/plants/count')).json()).toMatchObject({ count: 1 });
  const errorOf = async (response: Response) => Object(await response.json()).error;
  expect(await errorOf(await get(reader, '/plants/changes'))).toBe(50100);
  expect(await errorOf(await post(reader, '/plants', '{"id":2,"name":"x"}'))).toBe(50300);
  expect((await get(reader, '/plants/1')).status).toBe(200);
  // The log does not mention the feed.
  expect(reader.log().filter(({ msg }) => String(msg).includes('feed'))).toEqual([]);
});
