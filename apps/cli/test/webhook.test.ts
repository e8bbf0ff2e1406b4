import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '@plant-store/test-setup';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { useStore } from './fixtures/store.ts';

const store = useStore({ PLANT_STORE_WEBHOOK_ALLOW: '127.0.0.0/8' });
const endpoint = { url: '', status: 200, types: [] as string[] };

beforeAll(async () => {
  const server = createServer(async (request, response) => {
    const { type, data } = JSON.parse(await text(request));
    endpoint.types.push(type, ...(data.changes ?? []).map((each: { type: string }) => each.type));
    response.writeHead(endpoint.status).end();
  });
  endpoint.url = `${await listen(server)}/plants`;
  return () => {
    server.close();
    server.closeAllConnections();
  };
});

/** Runs `webhook …`, and parses its lines. */
async function webhook(...args: string[]) {
  const { code, stdout, stderr } = await store.run(['webhook', ...args, '--json']);
  const lines = `${stdout}${stderr}`.split('\n').filter(Boolean);
  return { code, lines: lines.map((line) => JSON.parse(line)) };
}

/** Creates a webhook, and deletes it at the end of the test. */
async function create(name: string) {
  const { code, lines } = await webhook('create', endpoint.url, '--name', name);
  onTestFinished(async () => {
    await webhook('delete', name);
    endpoint.types = [];
    endpoint.status = 200;
  });
  return { code, created: lines[0] };
}

test('webhook create shows the secret once, and the endpoint gets each change', async () => {
  const { code, created } = await create('partner');
  expect(code).toBe(0);
  expect(created).toMatchObject({ name: 'partner', state: 'active', url: endpoint.url });
  expect(created.secret).toMatch(/^whsec_/);
  const list = await store.run(['webhook', 'list']);
  expect(JSON.parse(list.stdout)).toMatchObject({ name: 'partner' });
  expect(list.stdout).not.toContain(created.secret);

  await store.client.createPlant.mutate({ id: 1n, name: 'Hoya' });
  await expect.poll(() => endpoint.types).toEqual(['plants.changed', 'created']);
  await expect
    .poll(async () => (await webhook('show', 'partner')).lines[0])
    .toMatchObject({ lastAttempt: { status: 200 } });

  expect(await webhook('create', endpoint.url, '--name', 'partner')).toMatchObject({
    code: 1,
    lines: [{ error: 40901 }],
  });
});

test('a paused webhook sends nothing until it is resumed', async () => {
  await create('quiet');
  expect(await webhook('pause', 'quiet')).toMatchObject({ code: 0, lines: [{ state: 'paused' }] });
  await store.client.createPlant.mutate({ id: 2n, name: 'Aloe' });
  expect(endpoint.types).toEqual([]);
  expect(await webhook('resume', 'quiet')).toMatchObject({ lines: [{ state: 'active' }] });
  await expect.poll(() => endpoint.types).toEqual(['plants.changed', 'created']);
});

test('webhook replay sends changes again, from a time or a cursor', async () => {
  await store.client.createPlant.mutate({ id: 3n, name: 'Ficus' });
  const { created } = await create('again');
  await store.client.deletePlant.mutate({ id: 3n });
  await expect.poll(() => endpoint.types).toContain('deleted');
  endpoint.types = [];
  expect(await webhook('replay', 'again', '--after', created.cursor)).toMatchObject({ code: 0 });
  await expect.poll(() => endpoint.types).toEqual(['plants.changed', 'deleted']);
  endpoint.types = [];
  await webhook('replay', 'again', '--since', '2020-01-01T00:00:00Z');
  await expect.poll(() => endpoint.types).toContain('created');
});

test('webhook rotate shows a new secret', async () => {
  const { created } = await create('rotated');
  const { code, lines } = await webhook('rotate', 'rotated');
  expect(code).toBe(0);
  expect(lines[0].secret).toMatch(/^whsec_/);
  expect(lines[0].secret).not.toBe(created.secret);
});

test('webhook test sends a message, and the exit code says whether the endpoint accepts it', async () => {
  await create('tested');
  expect(await webhook('test', 'tested')).toMatchObject({ code: 0, lines: [{ status: 200 }] });
  expect(endpoint.types).toEqual(['plants.test']);
  endpoint.status = 500;
  expect(await webhook('test', 'tested')).toMatchObject({
    code: 1,
    lines: [{ status: 500, error: expect.any(String) }],
  });
});

test('webhook delete removes a webhook, and webhook create rejects a host that is not allowed', async () => {
  await create('gone');
  expect(await webhook('delete', 'gone')).toEqual({ code: 0, lines: [{ name: 'gone' }] });
  expect(await webhook('show', 'gone')).toMatchObject({ code: 1, lines: [{ error: 40403 }] });
  expect(await webhook('create', 'https://10.0.0.1/plants')).toMatchObject({
    code: 1,
    lines: [{ error: 40001, message: expect.stringContaining('PLANT_STORE_WEBHOOK_ALLOW') }],
  });
});
