import { createPlantStoreClient } from '@plant-store/client';
import type { NewPlant } from '@plant-store/schemas';
import { createDatabase, startOnPostgres } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';
import { type Client, type Connection, createPlants } from '../../src/import/create-plants.ts';
import { importFile } from '../../src/import/import-file.ts';
import type { ImportStep } from '../../src/import/import-step.ts';
import { openFile } from '../../src/import/open-file.ts';

/** Starts a server on an empty database, and returns a client of the server. */
async function startStore() {
  const server = await startOnPostgres(await createDatabase(inject('postgresUrl')));
  onTestFinished(server.stop);
  const { PLANT_STORE_URL: url, PLANT_STORE_TOKEN: token } = server.env;
  return createPlantStoreClient({ url, token, retry: false });
}

const connectionOf = (client: Client) => ({ client: async () => client });

async function importText(text: string, connection: Connection, name = 'a.csv') {
  const file = await openFile(new File([text], name), { createdAt: 'now', warn() {} });
  const steps: ImportStep[] = [];
  const { signal } = new AbortController();
  await importFile(file, { connection, signal, onStep: (step) => steps.push(step) });
  const sum = (count: keyof ImportStep['counts']) =>
    steps.reduce((total, { counts }) => total + counts[count], 0);
  return { steps, sum, rejectedRows: steps.flatMap(({ rejectedRows }) => rejectedRows) };
}

it('stores the first of two rows with the same id, even when the rows are in different requests', async () => {
  const client = await startStore();
  const others = Array.from({ length: 2_500 }, (_, id) => `${id + 10},x\n`).join('');
  const text = `id,name\n1,first\n${others}1,second\n${others}1,first\n`;
  const { sum, rejectedRows } = await importText(text, connectionOf(client));
  expect([sum('added'), sum('present'), sum('taken'), sum('rejected')]).toEqual([2501, 2501, 1, 0]);
  expect(rejectedRows.map(({ line }) => line)).toEqual([2503]);
  expect(sum('lines')).toBe(sum('rows') + sum('header'));
  expect(await client.getPlant.query({ id: 1n })).toMatchObject({ name: 'first' });
});

it('adds the bytes and the lines of a request to the progress after the store has responded', async () => {
  const client = await startStore();
  const rows = Array.from({ length: 4_000 }, (_, id) => `${id},x`).join('\n');
  const { steps, sum } = await importText(`id,name\n${rows}\n`, connectionOf(client));
  const half = steps.slice(0, steps.findIndex(({ counts }) => counts.rows > 0) + 2);
  const total = (each: typeof steps, of: (step: ImportStep) => number) =>
    each.reduce((all, step) => all + of(step), 0);
  expect(total(half, ({ counts }) => counts.lines)).toBe(2_001);
  const bytes = total(half, (step) => step.bytes) / total(steps, (step) => step.bytes);
  expect(bytes).toBeCloseTo(0.5);
  expect(sum('lines')).toBe(4_001);
});

it('finds the invalid plant when the store rejects a whole request', async () => {
  const client = await startStore();
  const plants = Array.from({ length: 9 }, (_, i) => ({ id: BigInt(i), name: `x${i}` }));
  // The plant 5 imitates a plant that the console considers valid, but a newer store rejects.
  const stranger = { id: 5n, name: 5 } as unknown as NewPlant;
  const sent = plants.with(5, stranger);
  const results = await createPlants(sent, connectionOf(client), new AbortController().signal);
  expect(results.map((result) => ('error' in result ? result.error : result.result))).toEqual([
    ...Array(5).fill('created'),
    40001,
    ...Array(3).fill('created'),
  ]);
});

it('sends at most a thousand plants and at most a megabyte in a request', async () => {
  const client = await startStore();
  const sizes: number[] = [];
  const counting = {
    createPlants: {
      mutate(input: { plants: NewPlant[] }) {
        sizes.push(input.plants.length);
        return client.createPlants.mutate(input);
      },
    },
  } as unknown as Client; // An import uses only the method `createPlants` of the client.
  const long = 'ä"'.repeat(50_000);
  const rows = Array.from({ length: 20 }, (_, id) => JSON.stringify({ id, name: long }));
  const short = Array.from({ length: 1_500 }, (_, id) =>
    JSON.stringify({ id: id + 100, name: 'x' }),
  );
  const text = [...rows, ...short, JSON.stringify({ id: 99, name: 'x'.repeat(1_100_000) })].join(
    '\n',
  );
  const { sum, rejectedRows } = await importText(text, connectionOf(counting), 'a.ndjson');
  expect(sum('added')).toBe(1_520);
  expect(rejectedRows).toMatchObject([
    { line: 1_521, reason: expect.stringContaining('larger than the 1 MiB') },
  ]);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
});
