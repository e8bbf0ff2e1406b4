import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { embedded, removePlants, server, shareStore } from '../fixtures/databases.ts';
import { type Respond, startReceiver } from '../fixtures/receiver.ts';

describe.each([server, embedded])('on $name', ({ provide }) => {
  const webhooks = { allow: ['127.0.0.0/8'], retryDelays: [0, 0, 0] };
  const store = shareStore(provide, { webhooks });

  beforeAll(() => store.webhooks.send());
  beforeEach(() => removePlants(store));

  let count = 0;

  /** Starts an endpoint, and sends all later changes to the endpoint. */
  async function follow(
    options: Parameters<typeof store.webhooks.create>[1] = {},
    respond?: Respond,
  ) {
    count += 1;
    const name = `partner ${count}`;
    const receiver = await startReceiver(respond);
    const { secret } = await store.webhooks.create(receiver.url, { name, ...options });
    receiver.secret = secret;
    onTestFinished(async () => void (await store.webhooks.delete(name)));
    return Object.assign(receiver, { name });
  }

  const show = async (name: string) => {
    const webhook = await store.webhooks.get(name);
    if (!webhook) throw new Error(`there is no webhook ${name}`);
    return webhook;
  };

  it('sends signed changes in the right order over one connection', async () => {
    const receiver = await follow();
    await store.create({ id: 2n ** 60n + 1n, name: 'Monstera 🌱', tag: 'Araceae' });
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
    await store.delete(2n ** 60n + 1n);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2));
    const [first, second] = receiver.received;
    expect(first?.body).toContain('"plant":{"id":1152921504606846977,"name":"Monstera 🌱"');
    expect(first?.type).toBe('plants.changed');
    expect(second?.body).toContain('"type":"deleted"');
    expect(second?.id).not.toBe(first?.id);
    expect(receiver.connections).toBe(1);
    await vi.waitFor(async () => expect(await show(receiver.name)).toMatchObject({ lag: 0 }));
    const { attempts, state } = await show(receiver.name);
    expect(state).toBe('active');
    expect(attempts).toMatchObject([
      { status: 200, id: first?.id },
      { status: 200, id: second?.id },
    ]);
  });

  it('sends at most 100 changes and 20 kB in a request', async () => {
    const receiver = await follow();
    const small = Array.from({ length: 250 }, (_, i) => ({ id: BigInt(i), name: 'x' }));
    const large = Array.from({ length: 5 }, (_, i) => ({
      id: 1000n + BigInt(i),
      name: 'x'.repeat(9000),
    }));
    const huge = { id: 2000n, name: 'x'.repeat(50_000) };
    await store.createMany([...small, ...large, huge]);
    await vi.waitFor(() => expect(receiver.changes()).toHaveLength(256));
    expect(new Set(receiver.changes()).size).toBe(256);
    for (const { changes, body } of receiver.received) {
      expect(changes.length).toBeLessThanOrEqual(100);
      if (changes.length > 1) expect(body.length).toBeLessThanOrEqual(20_000);
    }
  });

  it('sends a request again with the same id until the endpoint accepts the request', async () => {
    const statuses = [500, 302, 200];
    const receiver = await follow({}, (response) => {
      response.writeHead(statuses.shift() ?? 200, { location: '/elsewhere' }).end('no room');
    });
    await store.create({ id: 1n, name: 'Hoya' });
    await store.create({ id: 2n, name: 'Hoya' });
    const attempts = async () => (await show(receiver.name)).attempts;
    await vi.waitFor(async () => expect((await attempts()).at(-1)?.status).toBe(200));
    const ids = receiver.received.map(({ id }) => id);
    expect(ids.slice(0, 3)).toEqual([ids[0], ids[0], ids[0]]);
    expect((await attempts()).slice(0, 3)).toMatchObject([
      { status: 500, error: 'status 500 no room' },
      { status: 302, error: 'status 302 no room' },
      { status: 200 },
    ]);
  });

  it('sends the same body in each attempt, even when the plant is deleted between the attempts', async () => {
    const deleted = Promise.withResolvers<number>();
    const receiver = await follow({}, async (response) => {
      const isFirst = receiver.received.length === 1;
      response.writeHead(isFirst ? await deleted.promise : 200, { 'retry-after': '3' }).end();
    });
    await store.create({ id: 1n, name: 'Hoya' });
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
    await store.delete(1n);
    deleted.resolve(503);
    await vi.waitFor(() => expect(receiver.changes()).toContain('deleted 1'), 10_000);
    const [first, second, third] = receiver.received;
    expect(second).toEqual(first);
    expect(first?.changes).toEqual(['created 1']);
    expect(third?.changes).toEqual(['deleted 1']);
    await vi.waitFor(async () => expect((await show(receiver.name)).lag).toBe(0));
  });

  it('pauses an endpoint after the last retry, and sends all changes after the operator resumes the endpoint', async () => {
    const warnings: string[] = [];
    store.events.on('warning', (message) => warnings.push(message));
    let status = 500;
    const receiver = await follow({}, (response) => response.writeHead(status).end());
    await store.create({ id: 1n, name: 'Hoya' });
    const paused = { state: 'paused', pausedBecause: '4 attempts failed' };
    await vi.waitFor(async () => expect(await show(receiver.name)).toMatchObject(paused));
    expect(warnings).toEqual([expect.stringContaining(`the webhook "${receiver.name}" is paused`)]);
    expect((await store.webhooks.state()).failing).toBe(1);
    status = 200;
    await store.delete(1n);
    expect(await store.webhooks.resume(receiver.name)).toBe(true);
    await vi.waitFor(() => expect(receiver.changes().at(-1)).toBe('deleted 1'));
  });

  it('sends only the changes with the tag or the type that the operator has set', async () => {
    const tag = 'Araceae "\\\u0001\t\u007f\u2028é🌱/<';
    const tagged = await follow({ tag });
    const deleted = await follow({ only: 'deleted' });
    await store.createMany([
      { id: 1n, name: 'Hoya' },
      { id: 2n, name: 'Monstera', tag },
    ]);
    await store.deleteMany([1n, 2n]);
    await vi.waitFor(() => expect(tagged.changes()).toContain('deleted 2'));
    const both = ['deleted 1', 'deleted 2'];
    await vi.waitFor(() => expect(deleted.changes().toSorted()).toEqual(both));
    expect(tagged.changes().filter((change) => change.endsWith('1'))).toEqual([]);
    await store.webhooks.pause(deleted.name);
    await store.create({ id: 3n, name: 'Hoya' });
    await store.webhooks.resume(deleted.name);
    await vi.waitFor(async () => expect((await show(deleted.name)).lag).toBe(0));
  });

  it('tells an endpoint to list the plants again when the cursor of the endpoint has expired', async () => {
    const receiver = await follow();
    await store.webhooks.pause(receiver.name);
    await store.create({ id: 1n, name: 'Hoya' });
    await store.delete(1n);
    await store.create({ id: 2n, name: 'Hoya' });
    await store.forgetDeletions(0);
    const { cursor: after } = await show(receiver.name);
    // For some seconds, the process reads the changes from memory. The cursor expires only later.
    const read = () => store.changes({ after, wait: 1 });
    await vi.waitFor(() => expect(read()).rejects.toMatchObject({ kind: 'cursorExpired' }));
    await store.webhooks.resume(receiver.name);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
    expect(receiver.received[0]).toMatchObject({ type: 'plants.reset', changes: [] });
    await store.delete(2n);
    await vi.waitFor(() => expect(receiver.changes()).toEqual(['deleted 2']));
  });

  it('sends all changes since a given time again', async () => {
    await store.create({ id: 1n, name: 'Hoya' });
    await store.create({ id: 2n, name: 'Hoya' });
    const { createdAt: since } = (await store.get(2n)) ?? {};
    if (!since) throw new Error('the plant is missing');
    const receiver = await follow();
    await vi.waitFor(() => expect(store.feed().waiting).toBe(1));
    await store.webhooks.replay(receiver.name, new Date(since.getTime() + 1));
    await store.delete(1n);
    await vi.waitFor(() => expect(receiver.changes()).toEqual(['deleted 1']));
    await store.webhooks.replay(receiver.name, since);
    const all = ['deleted 1', 'created 2', 'deleted 1'];
    await vi.waitFor(() => expect(receiver.changes()).toEqual(all));
  });

  it('signs requests with both the old secret and the new secret after a rotation', async () => {
    const receiver = await follow();
    const secret = await store.webhooks.rotate(receiver.name);
    await store.create({ id: 1n, name: 'Hoya' });
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
    receiver.secret = secret ?? '';
    await store.delete(1n);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2));
  });

  it('sends a test message, and returns the status of the response', async () => {
    const receiver = await follow();
    expect(await store.webhooks.test(receiver.name)).toMatchObject({ status: 200 });
    expect(receiver.received).toMatchObject([{ type: 'plants.test' }]);
    expect(await store.webhooks.test('nobody')).toBeUndefined();
  });

  it.each([
    ['ftp://partner.example/', {}, 'must begin with https://'],
    ['https://ann:secret@partner.example/', {}, 'must not have a user or a password'],
    ['http://127.0.0.1/', { from: 'x' }, 'must be the `next` of a response'],
    ['http://127.0.0.1/', { name: '\n' }, 'name must have 1 to 100 characters'],
  ])('rejects an endpoint with the URL %s and the options %o', async (url, options, message) => {
    await expect(store.webhooks.create(url, options)).rejects.toMatchObject({
      kind: 'invalidInput',
      message: expect.stringContaining(message),
    });
  });
});
