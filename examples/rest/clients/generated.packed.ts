import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createDatabase, startOnPostgres } from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { Client } from './client.ts';
import { expectRoundTrip } from './round-trip.ts';

const clients = fileURLToPath(new URL('.', import.meta.url));
const generated = join(clients, 'generated');
const document = fileURLToPath(new URL('../../../apps/api/openapi.json', import.meta.url));

/** The generators, and the packages that the generated clients import. */
const generators = [
  '@hey-api/openapi-ts@0.99.0',
  'openapi-zod-client@1.18.3',
  'orval@8.38.0',
  'swagger-typescript-api@13.13.0',
  'typescript@5.9.3',
  ...['@zodios/core@10.9.6', 'axios@1', 'zod@3'],
];

let project: string;
let server: Awaited<ReturnType<typeof startOnPostgres>>;

const run = (file: string, ...args: string[]) =>
  promisify(execFile)(file, args, { cwd: project, shell: process.platform === 'win32' }).catch(
    (error) => {
      throw new Error(`${error.message}${error.stdout}`);
    },
  );

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'plant-store-clients-'));
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  await run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', ...generators);
  await rm(generated, { recursive: true, force: true });
  await copyFile(join(clients, 'generate.mjs'), join(project, 'generate.mjs'));
  await run(process.execPath, 'generate.mjs', document, generated);
  server = await startOnPostgres(await createDatabase(inject('postgresUrl')));
}, 600_000); // A download from the registry may be slow.

afterAll(async () => {
  await server.stop();
  await rm(project, { recursive: true });
});

it.each(['hey-api', 'orval', 'swagger-typescript-api'])(
  'a client that %s generated keeps every id exact',
  async (generator) => {
    const path = join(clients, `${generator}.ts`);
    const { connect }: { connect(url: string, token: string): Client } = await import(path);
    await expectRoundTrip(
      connect(server.env.PLANT_STORE_URL, server.env.PLANT_STORE_TOKEN),
      generator,
    );
  },
);

it('the clients of all generators pass the type checker', async () => {
  const tsc = join(project, 'node_modules/.bin/tsc');
  await run(tsc, '--project', clients);

  const schemas = join(project, 'zodios.ts');
  await run(join(project, 'node_modules/.bin/openapi-zod-client'), document, '--output', schemas);
  const options = ['--target', 'es2024', '--module', 'nodenext', '--skipLibCheck', '--noEmit'];
  await run(tsc, '--strict', ...options, schemas);
});

it('the schemas that Hey API generated accept only 64-bit ids', async () => {
  const { zNewPlant } = await import(`${generated}/hey-api/zod.gen.ts`);
  const isId = (id: bigint) => zNewPlant.safeParse({ id, name: 'Hoya' }).success;
  expect([-(2n ** 63n) - 1n, -(2n ** 63n), 2n ** 63n - 1n, 2n ** 63n].map(isId)).toEqual([
    ...[false, true, true, false],
  ]);
});
