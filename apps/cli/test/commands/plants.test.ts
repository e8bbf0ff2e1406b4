import { openPlantStore } from '@plant-store/core';
import { beforeAll, expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { run } from '../fixtures/run-program.ts';

const { env } = useDatabase({ isShared: true });

beforeAll(async () => {
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

it('list selects plants by --tag, --after and --limit, and shows the plants in the order of their ids', async () => {
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

it('list writes no hint when the list has no more plants', async () => {
  const { stdout, stderr } = await run(['list', '--tag', 'Araceae', '--limit', '3'], { env });
  expect(stdout.match(/\n/g)).toHaveLength(3);
  expect(stderr).toBe('');
});
