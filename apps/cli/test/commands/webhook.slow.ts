import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type StartedProcess, startProcess } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { embeddedDatabase, useDatabase } from '../fixtures/database.ts';
import { hazardsOf } from '../fixtures/findings.ts';
import { listen } from '../fixtures/listen.ts';
import { useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();
const database = useDatabase({ isMigrated: true });
const token = 'secret-of-the-tests';
const allow = { PLANT_STORE_WEBHOOK_ALLOW: '127.0.0.1' };

/** Starts an endpoint that responds with the status in `status`. */
async function startEndpoint() {
  const endpoint = { url: '', status: 200, bodies: [] as string[], signatures: [] as string[] };
  const server = createServer(async (request, response) => {
    endpoint.bodies.push(await text(request));
    endpoint.signatures.push(String(request.headers['webhook-signature']));
    response.writeHead(endpoint.status).end('the endpoint says no');
  });
  endpoint.url = `${await listen(server)}/`;
  return endpoint;
}

function startServer(env: Record<string, string>): StartedProcess {
  const server = startProcess({ ...env, PLANT_STORE_TOKEN: token });
  onTestFinished(async () => {
    server.child.kill('SIGKILL');
    await server.ended();
  });
  return server;
}

async function create(server: StartedProcess, id: number): Promise<void> {
  const { status } = await fetch(`${await server.listening()}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id, name: 'Hoya' }),
  });
  expect(status).toBe(200);
}

it('manages a webhook while a running server sends messages to the endpoint', async () => {
  const env = { ...database.env, ...allow };
  const webhook = (...words: string[]) => run(['webhook', ...words], { env });
  const server = startServer(env);
  const endpoint = await startEndpoint();
  const created = await webhook('create', endpoint.url, '--name', 'partner');
  expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^whsec_\S{44}\n$/) });
  expect(created.stderr).toBe(
    'The name of the webhook is partner. Keep this secret: the store cannot show it again.\n',
  );
  await create(server, 1);
  await vi.waitFor(() => expect(endpoint.bodies).not.toEqual([]));
  expect(JSON.parse(endpoint.bodies[0] ?? '').data.changes).toMatchObject([
    { type: 'created', plant: { id: 1, name: 'Hoya' } },
  ]);

  expect(JSON.parse((await webhook('list')).stdout)).toMatchObject({
    name: 'partner',
    state: 'active',
  });
  const rotated = JSON.parse((await webhook('rotate', 'partner')).stdout);
  expect(rotated.secret).toMatch(/^whsec_/);
  expect(rotated.secret).not.toBe(created.stdout.trim());
  expect((await webhook('test', 'partner')).code).toBe(0);
  expect(endpoint.signatures.at(-1)).toMatch(/^v1,\S+ v1,\S+$/);

  expect((await webhook('pause', 'partner')).code).toBe(0);
  await create(server, 2);
  const show = async () => JSON.parse((await webhook('show', 'partner')).stdout);
  const { cursor, state } = await show();
  expect(state).toBe('paused');
  endpoint.status = 410;
  expect((await webhook('resume', 'partner')).code).toBe(0);
  await vi.waitFor(async () =>
    expect((await show()).attempts.at(-1)).toMatchObject({ status: 410 }),
  );
  expect(await hazardsOf(env)).toEqual([
    'warning webhooks: the webhook "partner" is paused (status 410 the endpoint says no): correct the endpoint, and run ' +
      'plant-store webhook resume',
  ]);

  endpoint.status = 200;
  expect((await webhook('resume', 'partner')).code).toBe(0);
  await vi.waitFor(() => expect(endpoint.bodies.at(-1)).toContain('"id":2'));
  const { length } = endpoint.bodies;
  expect((await webhook('replay', 'partner', '--from', cursor)).code).toBe(0);
  await vi.waitFor(() => expect(endpoint.bodies.length).toBeGreaterThan(length));
  expect(endpoint.bodies.at(-1)).toContain('"id":2');
  expect((await webhook('replay', 'partner', '--since', '1h')).code).toBe(0);
  await vi.waitFor(() => expect(endpoint.bodies.at(-1)).toContain('"id":1,'));

  expect(await webhook('delete', 'partner')).toMatchObject({
    code: 0,
    stdout: '{"name":"partner"}\n',
  });
  expect(await webhook('show', 'partner')).toMatchObject({
    code: 1,
    stderr:
      'plant-store: no webhook has the name "partner": plant-store webhook list shows the names\n',
  });
});

it('manages a webhook of the embedded database while the server is stopped', async () => {
  const env = { ...(await embeddedDatabase(directory.path('store'))), ...allow };
  expect((await run(['import', '-'], { env, input: '{"id":1,"name":"Hoya"}\n' })).code).toBe(0);
  const endpoint = await startEndpoint();
  expect((await run(['webhook', 'create', endpoint.url], { env })).code).toBe(0);
  const server = startServer(env);
  await create(server, 2);
  await vi.waitFor(() => expect(endpoint.bodies).not.toEqual([]));
});

it('creates no webhook while the feed is switched off', async () => {
  const { env } = database;
  await run(['feed', 'off', '--yes'], { env });
  expect(await run(['webhook', 'create', 'https://1.1.1.1/'], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the feed of changes is switched off'),
  });
});
