import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type DatabaseOptions, openPlantStore } from '@plant-store/core';
import { createDatabase, hasPosixShell, startOnPostgres } from '@plant-store/test-setup';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { buildProgram } from '../src/program.ts';
import { copyMigrated, embeddedDatabase } from './fixtures/database.ts';
import { useDirectory } from './fixtures/plant-files.ts';
import { main } from './fixtures/run-program.ts';

const program = await buildProgram(() => {});
const subcommands = program.commands.flatMap(({ commands }) => commands);
const examples = [program, ...program.commands, ...subcommands].flatMap((command) => {
  let help = '';
  command.configureOutput({ writeOut: (part) => (help += part) }).outputHelp();
  const [, lines = ''] = /\nExamples?:\n((?: {2}.*\n)+)/.exec(help) ?? [];
  return lines
    .trimEnd()
    .split(/\n? {2}/)
    .filter(Boolean);
});
const isEndless = (example: string) => example.includes(' follow ');
const needsCitus = (example: string) => example.includes(' distribute ');
const needsServer = (example: string) => example.includes(' mcp ');
const others = examples.filter(
  (example) => !isEndless(example) && !needsCitus(example) && !needsServer(example),
);

const directory = useDirectory();

/** The URL of an endpoint that accepts all messages. */
let endpointUrl: string;

beforeAll(async () => {
  const endpoint = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await once(endpoint, 'listening');
  // The cast is safe, because the server has a port.
  endpointUrl = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`;
  return () => void endpoint.close();
});

/** JavaScript and jq 1.6 read both ids as the number 9007199254740992. */
const [rounded, exact] = [9007199254740992n, 9007199254740993n];

/** Creates a store, files and programs for the examples. Returns the environment variables. */
async function prepare(settings: DatabaseOptions): Promise<Record<string, string>> {
  const webhooks = { allow: ['127.0.0.1'] };
  const store = await openPlantStore(settings, { webhooks });
  await store.webhooks.create(endpointUrl, { name: 'partner' });
  const { next } = await store.changes({});
  await store.create({ id: rounded, name: 'Ficus lyrata', tag: 'Moraceae' });
  await store.create({ id: exact, name: 'Monstera deliciosa', tag: 'Araceae' });
  await store.accessTokens.create('partner');
  await store.close();
  await directory.write('changes.ndjson', `{"cursor":"${next}"}\n`);
  await directory.write('plants.ndjson', '{"id":1,"name":"Hoya carnosa"}\n');
  await directory.write('ids.csv', 'id\n1\n');
  const programs = {
    'plant-store': `exec '${process.execPath}' '${main}' "$@"`,
    consumer: 'exec cat > consumed.ndjson',
  };
  for (const [name, script] of Object.entries(programs)) {
    await chmod(await directory.write(name, `#!/bin/sh\n${script}\n`), 0o755);
  }
  return {
    PATH: `${directory.path('.')}:${process.env['PATH']}`,
    PLANT_STORE_ENV_FILE: '/dev/null',
    PLANT_STORE_WEBHOOK_ALLOW: '127.0.0.1',
    ...('databaseUrl' in settings
      ? { DATABASE_URL: settings.databaseUrl }
      : { PLANT_STORE_DATA_DIR: settings.dataDirectory }),
  };
}

/** Starts an example in the directory of the test. */
function start(example: string, env: Record<string, string>) {
  const child = spawn('sh', ['-c', example], {
    cwd: directory.path('.'),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  return {
    child,
    errors: text(child.stderr),
    output: text(child.stdout),
    exit: once(child, 'exit'),
  };
}

async function run(example: string, env: Record<string, string>) {
  const { errors, output, exit } = start(example, env);
  const [code] = await exit;
  return { code, output: await output, errors: await errors };
}

/** Adds `--yes` to a command that would ask on a terminal. */
const confirmed = (example: string) => example.replace(/ (delete \d+|distribute .*)$/, '$& --yes');

const databases = {
  Postgres: async () => ({ databaseUrl: await copyMigrated() }),
  async 'the embedded database'() {
    const dataDirectory = directory.path('store');
    await embeddedDatabase(dataDirectory);
    return { dataDirectory };
  },
};

describe.runIf(hasPosixShell)('the help of plant-store', () => {
  it.each(others)('has an example that works: %s', async (example) => {
    const settings = await databases.Postgres();
    const env = await prepare(settings);
    const target = 'postgres://…';
    const other = example.includes(target) ? await createDatabase(inject('postgresUrl')) : target;
    const command = confirmed(example).replace(target, other);
    const { code, errors } = await run(command, env);
    // `doctor` reports that the Postgres of the tests runs without fsync.
    expect(code, errors).toBe(example === 'plant-store doctor' ? 1 : 0);
  });

  it.each(examples.filter(isEndless))('has an example that never ends: %s', async (example) => {
    const env = await prepare(await databases.Postgres());
    const { child, exit } = start(example, env);
    const file = example.includes('consumer') ? 'consumed.ndjson' : 'changes.ndjson';
    await vi.waitFor(async () =>
      expect(await readFile(directory.path(file), 'utf8')).toContain(`"id":${exact},`),
    );
    if (child.pid) process.kill(-child.pid, 'SIGTERM');
    await exit;
  });

  it.each(examples.filter(needsServer))('has an example with a server: %s', async (example) => {
    const { databaseUrl } = await databases.Postgres();
    const env = await prepare({ databaseUrl });
    const server = await startOnPostgres(databaseUrl);
    const { PLANT_STORE_URL, PLANT_STORE_TOKEN } = server.env;
    const { code, errors } = await run(example, { ...env, PLANT_STORE_URL, PLANT_STORE_TOKEN });
    await server.stop();
    expect(code, errors).toBe(0);
  });

  it.each(examples.filter(needsCitus))('has an example with a cluster: %s', async (example) => {
    const env = await prepare(await databases.Postgres());
    expect(await run(confirmed(example), env)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('Citus'),
    });
  });

  it.each(Object.entries(databases))(
    'has examples that delete the plants with a tag and no other plant, on %s',
    async (_, open) => {
      const env = await prepare(await open());
      const lines = examples.filter((example) => example.includes('ids.csv'));
      const { code, errors } = await run(lines.join('\n'), env);
      expect(code, errors).toBe(0);
      const { output } = await run('plant-store export --columns id', env);
      expect(output).toBe(`{"id":${rounded}}\n`);
    },
  );
});
