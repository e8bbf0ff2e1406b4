import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Webhook as Endpoint, WebhookPage } from '@plant-store/schemas';
import { listen } from '@plant-store/test-setup';
import { Webhook } from 'standardwebhooks';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { shareServerOnOwnPostgres } from '../fixtures/server.ts';
import { type Input, type Procedure, surfaces } from '../fixtures/surfaces.ts';

const server = shareServerOnOwnPostgres({ PLANT_STORE_WEBHOOK_ALLOW: '127.0.0.0/8' });

/** The host of all webhooks, and the messages that it has received. */
const receiver = { url: '', messages: [] as { body: string; headers: Record<string, string> }[] };

beforeAll(async () => {
  const receiving = createServer(async (request, response) => {
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
    receiver.messages.push({ headers: Object.fromEntries(headers), body: await text(request) });
    response.end();
  });
  receiver.url = await listen(receiving);
  return () => {
    receiving.close();
    receiving.closeAllConnections();
  };
});

let count = 0;

/** A cursor of another database. */
const otherCursor = Buffer.from('0123456789abcdef 1').toString('base64url');

describe.each(surfaces)('webhooks over $name', ({ name: surface, call }) => {
  const run = (procedure: Procedure, input: Input = {}) => call(server, procedure, input);
  const empty = { status: surface === 'REST' ? 204 : 200, output: undefined };

  /** A new webhook, and its secret. */
  let name: string;
  let secret: string;

  beforeEach(async () => {
    name = `partner ${++count}`;
    const { output } = await run('createWebhook', { url: receiver.url, name });
    secret = Object(output).secret;
    receiver.messages = [];
    return async () => void (await run('deleteWebhook', { name }));
  });

  /** Creates a plant. Returns its id. */
  const createPlant = async () => {
    await run('createPlant', { id: ++count, name: 'Hoya' });
    return count;
  };
  /** Verifies the messages with the official library. Returns the ids of their plants. */
  const received = () =>
    receiver.messages.flatMap(({ body, headers }) => {
      const { type, data } = Object(new Webhook(secret).verify(body, headers));
      return type === 'plants.changed'
        ? data.changes.map(({ plant }: { plant: { id: number } }) => plant.id)
        : [type];
    });

  it('createWebhook shows the secret once, and the endpoint gets each change signed', async () => {
    expect(secret).toMatch(/^whsec_.{44}$/);
    const id = await createPlant();
    await vi.waitFor(() => expect(received()).toEqual([id]));
    const shown = { name, url: receiver.url, state: 'active', cursor: expect.any(String) };
    await expect
      .poll(async () => (await run('getWebhook', { name })).output)
      .toMatchObject({ ...shown, createdAt: expect.any(Date), lastAttempt: { status: 200 } });
    const all = [await run('listWebhooks'), await run('getWebhook', { name })];
    expect(JSON.stringify(all)).not.toContain(secret);
    const again = await run('createWebhook', { url: receiver.url, name });
    expect(again).toMatchObject({ status: 409, error: 40901 });
  });

  it('createWebhook names a webhook after its host, and begins at a cursor', async () => {
    const from = Object((await run('listPlantChanges')).output).next;
    const created = await run('createWebhook', { url: receiver.url, from });
    expect(created.output).toMatchObject({ name: '127.0.0.1', cursor: from });
    expect(await run('deleteWebhook', { name: '127.0.0.1' })).toMatchObject(empty);
    const foreign = await run('createWebhook', { url: receiver.url, from: otherCursor });
    expect(foreign).toMatchObject({ status: 410, error: 41000 });
  });

  it('listWebhooks returns pages in the order of the names', async () => {
    await run('createWebhook', { url: receiver.url, name: 'another' });
    const namesIn = ({ webhooks }: WebhookPage) => webhooks.map((each) => each.name);
    const list = async (input: Input) => (await run('listWebhooks', input)).output as WebhookPage;
    expect(namesIn(await list({}))).toEqual(['another', name]);
    const first = await list({ limit: 1 });
    expect(namesIn(first)).toEqual(['another']);
    expect(namesIn(await list({ after: first.next }))).toEqual([name]);
    await run('deleteWebhook', { name: 'another' });
  });

  it('updateWebhook pauses and resumes', async () => {
    const { output } = await run('updateWebhook', { name, paused: true });
    expect(output).toMatchObject({ name, state: 'paused' });
    expect(output).not.toHaveProperty('pausedBecause');
    const resumed = (await run('updateWebhook', { name, paused: false })).output as Endpoint;
    expect(resumed.state).toBe('active');
  });

  it('rotateWebhookSecret returns the secret of all further messages', async () => {
    const old = secret;
    secret = Object((await run('rotateWebhookSecret', { name })).output).secret;
    expect(secret).not.toBe(old);
    const attempt = await run('testWebhook', { name });
    expect([attempt.output, received()]).toMatchObject([{ status: 200 }, ['plants.test']]);
  });

  it('replayWebhook sends the changes behind a cursor or since a time again', async () => {
    const after = Object((await run('listPlantChanges')).output).next;
    const since = new Date().toISOString();
    const id = await createPlant();
    await vi.waitFor(() => expect(received()).toEqual([id]));
    expect(await run('replayWebhook', { name, after })).toMatchObject(empty);
    await vi.waitFor(() => expect(received()).toEqual([id, id]));
    expect(await run('replayWebhook', { name, since })).toMatchObject(empty);
    await vi.waitFor(() => expect(received()).toEqual([id, id, id]));
    const foreign = await run('replayWebhook', { name, after: otherCursor });
    expect(foreign).toMatchObject({ status: 410, error: 41000 });
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
