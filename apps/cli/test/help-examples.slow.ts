import { chmod, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type DatabaseOptions, openPlantStore } from '@plant-store/core';
import { createDatabase, hasPosixShell, startOnPostgres } from '@plant-store/test-setup';
import { describe, expect, inject, it, vi } from 'vitest';
import { buildProgram } from '../src/program.ts';
import { copyMigrated, embeddedDatabase } from './fixtures/database.ts';
import { listen } from './fixtures/listen.ts';
import { useDirectory } from './fixtures/plant-files.ts';
import { main, startInShell } from './fixtures/run-program.ts';

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
const needsServer = (example: string) => example.includes(' mcp ');
const others = examples.filter((example) => !isEndless(example) && !needsServer(example));

const directory = useDirectory();

/** JavaScript and jq 1.6 read both ids as the number 9007199254740992. */
const [rounded, exact] = [9007199254740992n, 9007199254740993n];

/** Creates a store, files and programs for the examples. Returns the environment variables. */
async function prepare(settings: DatabaseOptions): Promise<Record<string, string>> {
  const webhooks = { allow: ['127.0.0.1'] };
  const store = await openPlantStore(settings, { webhooks });
  const endpoint = await listen(createServer((_, response) => response.end()));
  await store.webhooks.create(`${endpoint}/`, { name: 'partner' });
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
    PLANT_STORE_WEBHOOK_ALLOW: '127.0.0.1',
    ...('databaseUrl' in settings
      ? { DATABASE_URL: settings.databaseUrl }
      : { PLANT_STORE_DATA_DIR: settings.dataDirectory }),
  };
}

/** Starts an example in the directory of the test. */
const start = (example: string, env: Record<string, string>) =>
  startInShell(example, { env, cwd: directory.path('.'), detached: true });

const run = (example: string, env: Record<string, string>) => start(example, env).result;

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
    const { code, stderr } = await run(command, env);
    // `doctor` reports that the Postgres of the tests runs without fsync.
    expect(code, stderr).toBe(example === 'plant-store doctor' ? 1 : 0);
  });

  it.each(examples.filter(isEndless))('has an example that never ends: %s', async (example) => {
    const env = await prepare(await databases.Postgres());
    const { child, result } = start(example, env);
    const file = example.includes('consumer') ? 'consumed.ndjson' : 'changes.ndjson';
    await vi.waitFor(async () =>
      expect(await readFile(directory.path(file), 'utf8')).toContain(`"id":${exact},`),
    );
    if (child.pid) process.kill(-child.pid, 'SIGTERM');
    await result;
  });

  it.each(examples.filter(needsServer))('has an example with a server: %s', async (example) => {
    const { databaseUrl } = await databases.Postgres();
    const env = await prepare({ databaseUrl });
    const server = await startOnPostgres(databaseUrl);
    const { PLANT_STORE_URL, PLANT_STORE_TOKEN } = server.env;
    const { code, stderr } = await run(example, { ...env, PLANT_STORE_URL, PLANT_STORE_TOKEN });
    await server.stop();
    expect(code, stderr).toBe(0);
  });

  it.each(Object.entries(databases))(
    'has examples that delete the plants with a tag and no other plant, on %s',
    async (_, open) => {
      const env = await prepare(await open());
      const lines = examples.filter((example) => example.includes('ids.csv'));
      const { code, stderr } = await run(lines.join('\n'), env);
      expect(code, stderr).toBe(0);
      const { stdout } = await run('plant-store export --columns id', env);
      expect(stdout).toBe(`{"id":${rounded}}\n`);
    },
  );
});
