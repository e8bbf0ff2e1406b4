import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Webhook as Endpoint, WebhookPage } from '@plant-store/schemas';
import { listen } from '@plant-store/test-setup';
import { Webhook } from 'standardwebhooks';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { itNeedsTheScope } from '../fixtures/access.ts';
import { callers, type Input, type Procedure, surfaceCallers } from '../fixtures/callers.ts';
import { shareServerOnOwnPostgres, startForTest } from '../fixtures/server.ts';

const server = shareServerOnOwnPostgres({ PLANT_STORE_WEBHOOK_ALLOW: '127.0.0.0/8' });
const [rest] = callers;

interface Message {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** The host of all webhooks. Each webhook has a path of its own. */
const receiver = { url: '', status: 200, messages: [] as Message[] };

beforeAll(async () => {
  const receiving = createServer(async (request, response) => {
    const { url: path = '', headers } = request;
    const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
    receiver.messages.push({ path, headers: Object.fromEntries(texts), body: await text(request) });
    response.writeHead(receiver.status, { location: '/redirected' }).end();
  });
  receiver.url = await listen(receiving);
  return () => {
    receiving.close();
    receiving.closeAllConnections();
  };
});

beforeEach(() => {
  receiver.status = 200;
  receiver.messages = [];
});

let count = 0;
/** Creates a webhook with a new name. */
async function create(more: Input = {}) {
  const name = `partner ${++count}`;
  const input = { url: `${receiver.url}/${count}`, name, ...more };
  const { output } = await rest.call(server, 'createWebhook', input);
  return { ...input, ...(output as Endpoint & { secret: string }), path: `/${count}` };
}
/** Creates a plant, and returns its change as a webhook names it. */
async function createPlant() {
  await rest.call(server, 'createPlant', { id: ++count, name: 'Hoya' });
  return `created ${count}`;
}
const changesAt = (path: string) =>
  receiver.messages
    .filter((message) => message.path === path)
    .flatMap(({ body }) => JSON.parse(body).data.changes ?? [])
    .map(({ type, plant }) => `${type} ${plant.id}`);
/** Verifies a message with the official library. */
const verify = (secret: string, { body, headers }: Message) =>
  Object(new Webhook(secret).verify(body, headers));
const endOfFeed = async () =>
  String(Object((await rest.call(server, 'listPlantChanges', {})).output).next);

/** A cursor of another database. */
const otherCursor = Buffer.from('0123456789abcdef 1').toString('base64url');

describe.each(surfaceCallers)('webhooks over $name', ({ name: surface, call }) => {
  const run = (procedure: Procedure, input: Input) => call(server, procedure, input);
  const empty = { status: surface === 'REST' ? 204 : 200, output: undefined };
  const show = async (name: string) => (await run('getWebhook', { name })).output as Endpoint;

  it('createWebhook shows the secret once, and the endpoint gets each change signed', async () => {
    const url = `${receiver.url}/${surface}`;
    const { status, output } = await run('createWebhook', { url, name: surface });
    const { secret, ...shown } = Object(output);
    expect([status, secret]).toEqual([200, expect.stringMatching(/^whsec_.{44}$/)]);
    expect(shown).toMatchObject({
      name: surface,
      url,
      state: 'active',
      cursor: expect.any(String),
    });
    const change = await createPlant();
    await vi.waitFor(() => expect(changesAt(`/${surface}`)).toEqual([change]));
    const [message] = receiver.messages.filter(({ path }) => path === `/${surface}`);
    expect(message && verify(secret, message)).toMatchObject({ type: 'plants.changed' });
    await expect
      .poll(() => show(surface))
      .toMatchObject({ createdAt: expect.any(Date), lastAttempt: { status: 200 } });
    const all = [await run('listWebhooks', {}), await run('getWebhook', { name: surface })];
    expect(JSON.stringify(all)).not.toContain(secret);
    expect(await run('createWebhook', { url, name: surface })).toMatchObject({
      ...{ status: 409, error: 40901 },
    });
  });

  it('createWebhook names a webhook after its host, and begins at a cursor', async () => {
    const from = await endOfFeed();
    const change = await createPlant();
    const url = `${receiver.url}/from-${surface}`;
    expect((await run('createWebhook', { url, from })).output).toMatchObject({ name: '127.0.0.1' });
    await vi.waitFor(() => expect(changesAt(`/from-${surface}`)).toEqual([change]));
    expect(await run('deleteWebhook', { name: '127.0.0.1' })).toMatchObject(empty);
    expect(await run('createWebhook', { url, from: otherCursor })).toMatchObject({
      ...{ status: 410, error: 41000 },
    });
  });

  it('listWebhooks returns pages in the order of the names', async () => {
    await create();
    const namesIn = ({ webhooks }: WebhookPage) => webhooks.map(({ name }) => name);
    const list = async (input: Input) => (await run('listWebhooks', input)).output as WebhookPage;
    const all = namesIn(await list({}));
    expect(all).toEqual(all.toSorted());
    const first = await list({ limit: 1 });
    expect([...namesIn(first), ...namesIn(await list({ after: first.next }))]).toEqual(all);
    expect(await list({ after: '~' })).toEqual({ webhooks: [] });
  });

  it('updateWebhook pauses and resumes', async () => {
    const { name, path } = await create();
    const { output } = await run('updateWebhook', { name, paused: true });
    expect(output).toMatchObject({ name, state: 'paused' });
    expect(output).not.toHaveProperty('pausedBecause');
    const witness = await create();
    const change = await createPlant();
    await vi.waitFor(() => expect(changesAt(witness.path)).toEqual([change]));
    expect(changesAt(path)).toEqual([]);
    await run('updateWebhook', { name, paused: false });
    await vi.waitFor(() => expect(changesAt(path)).toEqual([change]));
  });

  it('rotateWebhookSecret returns the secret of all further messages', async () => {
    const { name, path, secret: old } = await create();
    const { secret } = Object((await run('rotateWebhookSecret', { name })).output);
    expect(secret).not.toBe(old);
    await run('testWebhook', { name });
    const [message] = receiver.messages.filter((each) => each.path === path);
    expect(message && verify(secret, message)).toMatchObject({ type: 'plants.test' });
  });

  it('replayWebhook sends the changes behind a cursor or since a time again', async () => {
    const after = await endOfFeed();
    const since = new Date().toISOString();
    const change = await createPlant();
    const { name, path } = await create();
    expect(await run('replayWebhook', { name, after })).toMatchObject(empty);
    await vi.waitFor(() => expect(changesAt(path)).toEqual([change]));
    expect(await run('replayWebhook', { name, since })).toMatchObject(empty);
    await vi.waitFor(() => expect(changesAt(path)).toEqual([change, change]));
    expect(await run('replayWebhook', { name, after: otherCursor })).toMatchObject({
      ...{ status: 410, error: 41000 },
    });
  });

  it('testWebhook returns the attempt, and follows no redirect', async () => {
    const { name } = await create();
    receiver.status = 302;
    const { status, output } = await run('testWebhook', { name });
    expect([status, output]).toMatchObject([
      ...[200, { status: 302, error: expect.stringMatching(/^status 302/) }],
    ]);
    expect(receiver.messages.map(({ path }) => path)).not.toContain('/redirected');
  });

  it('testWebhook connects to no host that the settings do not allow any more', async () => {
    const { name, path } = await create();
    const stricter = await startForTest({}, { databaseUrl: server.databaseUrl });
    const { output } = await call(stricter, 'testWebhook', { name });
    expect(output).toMatchObject({ error: expect.stringContaining('PLANT_STORE_WEBHOOK_ALLOW') });
    expect(output).not.toHaveProperty('status');
    expect(receiver.messages.map((message) => message.path)).not.toContain(path);
  });

  it.each([
    ['createWebhook', {}, 'url'],
    ['createWebhook', { url: 'partner' }, 'url'],
    ['createWebhook', { url: `https://1.1.1.1/${'x'.repeat(2_000)}` }, 'url'],
    ['createWebhook', { url: 'https://ann:secret@1.1.1.1/' }, 'url'],
    ...['https://10.0.0.1/', 'http://169.254.169.254/', 'https://[::1]/', 'http://1.1.1.1/'].map(
      (url) => ['createWebhook', { url }, 'PLANT_STORE_WEBHOOK_ALLOW'] as const,
    ),
    ['createWebhook', { url: 'https://1.1.1.1/', name: 'a\nb' }, 'name'],
    ['createWebhook', { url: 'https://1.1.1.1/', from: 'x' }, 'from'],
    ['listWebhooks', { limit: 0 }, 'limit'],
    ['listWebhooks', { state: 'paused' }, '"state"'],
    ['getWebhook', { name: 'x'.repeat(101) }, 'name'],
    ['updateWebhook', { name: 'x' }, 'paused'],
    ['updateWebhook', { name: 'x', paused: 'true' }, 'paused'],
    ['replayWebhook', { name: 'x' }, 'either after or since'],
    ['replayWebhook', { name: 'x', after: otherCursor, since: '2026-11-21T09:30:00Z' }, 'either'],
    ['replayWebhook', { name: 'x', since: 'yesterday' }, 'since'],
  ] as const)('%s rejects the input %j, and names %s', async (procedure, input, named) => {
    const outcome = await run(procedure, input);
    expect(outcome).toMatchObject({ status: 400, error: 40001 });
    expect(outcome.message).toContain(named);
  });

  it.each([
    ['getWebhook', {}],
    ['updateWebhook', { paused: true }],
    ['deleteWebhook', {}],
    ['rotateWebhookSecret', {}],
    ['replayWebhook', { since: '2026-11-21T09:30:00Z' }],
    ['testWebhook', {}],
  ] as const)('%s responds with 40403 when no webhook has the name', async (procedure, input) => {
    const outcome = await run(procedure, { name: 'no/body ü', ...input });
    expect(outcome).toMatchObject({ status: 404, error: 40403 });
    expect(outcome.message).toContain('no/body ü');
  });
});

const nameOfNew = async () => ({ name: (await create()).name });
describe.each([
  ['createWebhook', () => ({ url: receiver.url, name: `partner ${++count}` })],
  ['listWebhooks', () => ({})],
  ['getWebhook', nameOfNew],
  ['updateWebhook', async () => ({ ...(await nameOfNew()), paused: true })],
  ['deleteWebhook', nameOfNew],
  ['rotateWebhookSecret', nameOfNew],
  ['replayWebhook', async () => ({ ...(await nameOfNew()), since: '2026-11-21T09:30:00Z' })],
  ['testWebhook', nameOfNew],
] as const)('%s', (procedure, input) =>
  itNeedsTheScope('webhooks:manage', server, procedure, input),
);
