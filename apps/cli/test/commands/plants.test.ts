import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import { beforeAll, expect, inject, it } from 'vitest';
import { run } from '../fixtures/run-program.ts';

let env: { DATABASE_URL: string };

beforeAll(async () => {
  env = { DATABASE_URL: await createDatabase(inject('postgresUrl')) };
  const store = await openPlantStore({ databaseUrl: env.DATABASE_URL });
  await store.load([
    { id: -1n, name: 'Pilea' },
    { id: 1n, name: 'Monstera deliciosa', tag: 'Araceae' },
    { id: 9007199254740994n, name: 'Hoya carnosa', tag: 'Araceae' },
    { id: 9007199254740993n, name: 'Anthurium', tag: 'Araceae' },
    { id: 2n, name: 'Ficus lyrata', tag: 'Moraceae' },
  ]);
  await store.close();
});

it('get shows a plant by its id', async () => {
  const { stdout } = await run(['get', '-1'], { env });
  const { createdAt, ...plant } = JSON.parse(stdout);
  expect(plant).toEqual({ id: -1, name: 'Pilea' });
  expect(new Date(createdAt).toISOString()).toBe(createdAt);
});

it('list shows the plants with a tag after an id, in order of id and up to a limit', async () => {
  const args = ['list', '--tag', 'Araceae', '--after', '-1', '--limit', '2'];
  const { stdout, stderr } = await run(args, { env });
  expect(stdout.match(/(?<="id":)-?\d+/g)).toEqual(['1', '9007199254740993']);
  expect(stderr).toBe('plant-store: there are more plants: add --after 9007199254740993\n');
});

it('list shows the plants whose name contains a text, in upper or lower case', async () => {
  const args = ['list', '--search', 'HOYA', '--tag', 'Araceae'];
  const { stdout, stderr } = await run(args, { env });
  expect(stdout.match(/(?<="id":)-?\d+/g)).toEqual(['9007199254740994']);
  expect(stderr).toBe('');
});

it('list says nothing when there are no more plants than the limit', async () => {
  const { stdout, stderr } = await run(['list', '--tag', 'Araceae', '--limit', '3'], { env });
  expect(stdout.match(/\n/g)).toHaveLength(3);
  expect(stderr).toBe('');
});
