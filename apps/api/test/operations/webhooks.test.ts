import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '@plant-store/test-setup';
import { Webhook } from 'standardwebhooks';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { shareServerOnOwnPostgres } from '../fixtures/server.ts';
import { type Input, type Procedure, surfaces } from '../fixtures/surfaces.ts';

const server = shareServerOnOwnPostgres({ PLANT_STORE_WEBHOOK_ALLOW: '127.0.0.0/8' });

/** The endpoint of all webhooks, and the messages that the endpoint has received. */
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
const expired = { status: 410, error: 41000 };

describe.each(surfaces)('webhooks over $name', ({ call }) => {
  const run = (procedure: Procedure, input: Input = {}) => call(server, procedure, input);
  const outputOf = async (...args: Parameters<typeof run>) => Object((await run(...args)).output);

  /** The name and the secret of a new webhook. */
  let name: string;
  let secret: string;

  beforeEach(async () => {
    name = `partner ${++count}`;
    ({ secret } = await outputOf('createWebhook', { url: receiver.url, name }));
    receiver.messages = [];
    return async () => void (await run('deleteWebhook', { name }));
  });

  /** Verifies the messages with the official library. Returns each message's type and first plant id. */
  const received = () =>
    receiver.messages.map(({ body, headers }) => {
      const { type, data } = Object(new Webhook(secret).verify(body, headers));
      return [type, data.changes?.[0].plant.id];
    });

  it('createWebhook shows the secret once, and the endpoint gets each change in a signed message', async () => {
    expect(secret).toMatch(/^whsec_.{44}$/);
    const { next: after } = await outputOf('listPlantChanges');
    await run('createPlant', { id: ++count, name: 'Hoya' });
    const message = ['plants.changed', count];
    await vi.waitFor(() => expect(received()).toEqual([message]));
    const shown = { name, url: receiver.url, state: 'active', cursor: expect.any(String) };
    await expect
      .poll(() => outputOf('getWebhook', { name }))
      .toMatchObject({ ...shown, createdAt: expect.any(Date), lastAttempt: { status: 200 } });
    const all = [await outputOf('listWebhooks', { limit: 1 }), await run('getWebhook', { name })];
    expect(all[0]).toMatchObject({ webhooks: [shown] });
    expect(JSON.stringify(all)).not.toContain(secret);
    expect((await run('replayWebhook', { name, after })).output).toBeUndefined();
    await vi.waitFor(() => expect(received()).toEqual([message, message]));
  });

  it('createWebhook names a webhook after its host, and starts the webhook at a cursor', async () => {
    const { next: from } = await outputOf('listPlantChanges');
    const created = await run('createWebhook', { url: receiver.url, from });
    expect(created.output).toMatchObject({ name: '127.0.0.1', cursor: from });
    const again = await run('createWebhook', { url: receiver.url });
    expect(again).toMatchObject({ status: 409, error: 40901 });
    expect((await run('deleteWebhook', { name: '127.0.0.1' })).output).toBeUndefined();
    const foreign = { url: receiver.url, from: otherCursor };
    expect(await run('createWebhook', foreign)).toMatchObject(expired);
    expect(await run('replayWebhook', { name, after: otherCursor })).toMatchObject(expired);
  });

  it('updateWebhook pauses and resumes a webhook', async () => {
    for (const [paused, state] of [
      [true, 'paused'],
      [false, 'active'],
    ]) {
      const output = await outputOf('updateWebhook', { name, paused });
      expect(output).toMatchObject({ name, state });
      expect(output).not.toHaveProperty('pausedBecause');
    }
  });

  it('rotateWebhookSecret returns a new secret, which signs the next message', async () => {
    const old = secret;
    ({ secret } = await outputOf('rotateWebhookSecret', { name }));
    expect(secret).not.toBe(old);
    expect(await outputOf('testWebhook', { name })).toMatchObject({ status: 200 });
    expect(received()).toEqual([['plants.test', undefined]]);
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
