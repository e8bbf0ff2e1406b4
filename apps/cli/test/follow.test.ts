import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { start } from './fixtures/run.ts';
import { useStore } from './fixtures/store.ts';

const store = useStore();

function follow(from: string) {
  const { child, result } = start(['follow', '--from', from], { env: store.env });
  onTestFinished(() => void child.kill());
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return { child, result, next: async () => JSON.parse((await lines.next()).value ?? '') };
}

test('follow writes each change, and continues at a cursor', async () => {
  const now = follow('now');
  const first = await now.next();
  expect(first).toEqual({ cursor: expect.any(String) });
  await store.client.createPlant.mutate({ id: 1n, name: 'Hoya' });
  const created = await now.next();
  expect(created).toMatchObject({ type: 'created', plant: { id: 1, name: 'Hoya' } });
  await store.client.replacePlant.mutate({ id: 1n, name: 'Hoya carnosa' });
  const updated = await now.next();
  expect(updated).toMatchObject({ type: 'updated', plant: { name: 'Hoya carnosa' } });
  await store.client.deletePlant.mutate({ id: 1n });
  expect(await now.next()).toMatchObject({ type: 'deleted', plant: { id: 1 } });

  expect(await follow(updated.cursor).next()).toMatchObject({ type: 'deleted' });
});

test('follow --from start first prints the stored plants', async () => {
  const plants = [1n, 2n].map((id) => ({ id, name: `Aloe ${id}` }));
  await store.client.createPlants.mutate({ plants });
  const copy = follow('start');
  expect(await copy.next()).toMatchObject({ type: 'created', plant: { id: 1 } });
  expect(await copy.next()).toMatchObject({ type: 'created', plant: { id: 2 } });
  expect(await copy.next()).toEqual({ cursor: expect.any(String) });
});

test('follow continues after a restart of the server', async () => {
  const now = follow('now');
  await now.next();
  store.server.child.kill('SIGKILL');
  await store.server.ended();
  await store.restart();
  await store.client.createPlant.mutate({ id: 7n, name: 'Ficus' });
  expect(await now.next()).toMatchObject({ plant: { id: 7 } });
});

test('follow rejects a text that is not a cursor', async () => {
  const { code, stderr } = await store.run(['follow', '--from', 'yesterday', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: 40001 });
});
