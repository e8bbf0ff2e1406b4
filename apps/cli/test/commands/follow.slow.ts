import { openPlantStore, type PlantStore } from '@plant-store/core';
import { createDatabase, hasPosixSignals } from '@plant-store/test-setup';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { embeddedDatabase, useDatabase } from '../fixtures/database.ts';
import { changesIn, startFollower } from '../fixtures/follower.ts';
import { useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();
const { env } = useDatabase({ isMigrated: true });
let store: PlantStore;

beforeEach(async () => {
  store = await openPlantStore({ databaseUrl: env.DATABASE_URL });
});

afterEach(() => store.close());

it('writes the current cursor first, and then each change', async () => {
  await store.create({ id: 1n, name: 'Ficus' });
  const follower = startFollower([], { env });
  const [first] = await follower.waitFor(1);
  expect(first).toEqual({ cursor: expect.stringMatching(/^[\w-]+$/) });
  await store.create({ id: 9007199254740993n, name: 'Monstera "🌱"', tag: 'Araceae' });
  await store.delete(1n);
  await follower.waitFor(3);
  follower.child.kill();
  const { stdout } = await follower.result;
  const [, created, deleted] = stdout.split('\n');
  expect(created).toMatch(
    /^\{"type":"created","plant":\{"id":9007199254740993,"name":"Monstera \\"🌱\\"","tag":"Araceae","created_at":"[\d-]+T[\d:.]+Z"\},"cursor":"[\w-]+"\}$/,
  );
  expect(deleted).toMatch(/^\{"type":"deleted","plant":\{"id":1,"name":"Ficus","created_at":"/);

  const from = ['--from', String(first?.cursor)];
  const again = startFollower(from, { env });
  expect(changesIn(await again.waitFor(2))).toEqual(['created 9007199254740992', 'deleted 1']);
  const tagged = startFollower([...from, '--tag', 'Araceae'], { env });
  expect(changesIn(await tagged.waitFor(1))).toEqual(['created 9007199254740992']);
});

it.runIf(hasPosixSignals).each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('ends its output with a complete line after %s', async (signal, exitCode) => {
  await store.load(Array.from({ length: 3_000 }, (_, id) => ({ id: BigInt(id), name: 'Hoya' })));
  const follower = startFollower(['--from', 'start'], { env });
  await follower.waitFor(1);
  follower.child.kill(signal);
  const { code, stdout, stderr } = await follower.result;
  expect(code).toBe(exitCode);
  expect(stdout).toMatch(/"\}\n$/);
  expect(stderr).toBe(
    'plant-store: interrupted: to go on, run follow --from with the cursor of the last line\n',
  );
});

it('says that a cursor belongs to another database', async () => {
  const other = await createDatabase(inject('postgresUrl'));
  const otherStore = await openPlantStore({ databaseUrl: other });
  const { next } = await otherStore.changes({});
  await otherStore.close();
  const message =
    'the database was replaced: empty your copy, and list the plants again with follow --from start';
  for (const cursor of [next, `${next}.5`]) {
    const result = await run(['follow', '--from', cursor, '--json'], { env });
    expect(result).toEqual({
      code: 1,
      stderr: `plant-store: ${message}\n`,
      stdout: `{"error":41000,"message":"${message}"}\n`,
    });
  }
});

it('follows an embedded database when no server uses the database', async () => {
  const options = { env: await embeddedDatabase(directory.path('store')) };
  const embedded = await openPlantStore({ dataDirectory: directory.path('store') });
  await embedded.create({ id: 1n, name: 'Ficus' });
  await embedded.close();
  const follower = startFollower(['--from', 'start'], options);
  expect(changesIn(await follower.waitFor(1))).toEqual(['created 1']);
});
