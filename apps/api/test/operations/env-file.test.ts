import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyProgram, createDatabase } from '@plant-store/test-setup';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { startProgram } from '../fixtures/program.ts';
import { post } from '../fixtures/surfaces.ts';

let copy: Awaited<ReturnType<typeof copyProgram>>;

beforeEach(async () => {
  copy = await copyProgram('api');
});

afterEach(() => rm(copy.root, { recursive: true }));

/** Starts the program in another directory, as a supervisor may do. */
const start = (env: Record<string, string>) =>
  startProgram(
    { PLANT_STORE_ENV_FILE: '', ...env },
    `cd '${tmpdir()}' && exec "$1" '${copy.main}'`,
  );

const writeEnvFile = (text: string, path = '.env') => writeFile(join(copy.root, path), text);

it('starts in any directory, reads .env at the repository root, and prefers environment variables', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const token = 'token-from-the-file';
  await writeEnvFile(`PORT=1\nDATABASE_URL=${databaseUrl}\nPLANT_STORE_TOKEN='${token}'\n`);
  const server = start({ PORT: '0' });
  const target = { url: await server.listening(), token };
  expect((await post(target, '/plants', '{"id":1,"name":"Hoya"}')).status).toBe(200);
  expect(server.output()).toMatch(/Database +Postgres at /);
});

it('prints a command without the database URL when .env contains the URL', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  await writeEnvFile(`DATABASE_URL=${databaseUrl}\n`);
  const server = start({});
  await server.printed(/Create an access token:\n\n {2}export PLANT_STORE_TOKEN="\$\(npx -y pnpm /);
});

it('starts without a .env, and prints no message about the missing file', async () => {
  const DATABASE_URL = await createDatabase(inject('postgresUrl'));
  const server = start({ DATABASE_URL, LOG_LEVEL: 'silent' });
  await server.printed(/Add a plant/);
  expect(server.output()).toMatch(/^\nThe plant store is open\./);
});

it('reads the file that PLANT_STORE_ENV_FILE names, and does not read .env', async () => {
  await writeEnvFile('PORT=first');
  await writeEnvFile('LOG_LEVEL=second', 'other');
  const server = start({ PLANT_STORE_ENV_FILE: join(copy.root, 'other') });
  expect(await server.ended()).toBe(1);
  expect(server.output()).toMatch(/did not start\.\n {2}LOG_LEVEL is "second": .*\n$/);
});

it.each(['utf8', 'utf16le'] as const)(
  'reads the first line of a .env that a Windows program wrote in %s',
  async (encoding) => {
    await writeFile(join(copy.root, '.env'), '\uFEFFLOG_LEVEL=first\r\n', encoding);
    const server = start({});
    expect(await server.ended()).toBe(1);
    expect(server.output()).toContain('LOG_LEVEL is "first"');
  },
);

it('does not start when .env cannot be read, and prints the reason', async () => {
  const path = join(copy.root, '.env');
  await mkdir(path);
  const server = start({});
  expect(await server.ended()).toBe(1);
  expect(server.output()).toMatch(/^The plant store did not start\.\n {2}the settings in .*\n$/);
  expect(server.output()).toContain(
    `${path} cannot be read (EISDIR: illegal operation on a directory, read): make it a file`,
  );
});

it('does not start when the file that PLANT_STORE_ENV_FILE names is absent', async () => {
  const server = start({ PLANT_STORE_ENV_FILE: join(copy.root, 'absent') });
  expect(await server.ended()).toBe(1);
  expect(server.output()).toContain('ENOENT');
  expect(server.output()).toContain('set PLANT_STORE_ENV_FILE to a file that this user can read');
});
