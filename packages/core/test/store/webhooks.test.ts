import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { aloneForSuite, openAnother, openForSuite, openForTest } from '../fixtures/open-store.ts';
import { createAll, endOf, freeId, newPlants } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';
import { type Respond, startReceiver } from '../fixtures/receiver.ts';

const webhooks = { allow: ['127.0.0.0/8'], retryDelays: [0, 0, 0] };

describe.each(profiles)('webhooks on $name', (shared) => {
  const profile = aloneForSuite(shared);
  const suite = openForSuite(profile, { webhooks });

  beforeAll(() => suite.store.webhooks.send());

  let count = 0;

  /** Starts an endpoint, and creates a webhook for the changes after `from` (default: all later changes). */
  async function follow(respond?: Respond, options: { from?: string } = {}) {
    const { store } = suite;
    const name = `partner ${++count}`;
    const receiver = await startReceiver(respond);
    const from = options.from ?? (await endOf(store));
    const { secret } = await store.webhooks.create({ url: receiver.url, name, from });
    receiver.secret = secret;
    onTestFinished(() => store.webhooks.delete(name).catch(() => {}));
    return Object.assign(receiver, { name });
  }

  const show = (name: string) => suite.store.webhooks.get(name);

  const create = async (id = freeId()) => {
    await suite.store.create({ id, name: 'Hoya' });
    return id;
  };

  it('sends signed changes in order', async () => {
    const receiver = await follow();
    const id = 2n ** 60n + 1n;
    await suite.store.create({ id, name: 'Monstera 🌱', tag: 'Araceae' });
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
    await suite.store.delete(id);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2));
    const [first, second] = receiver.received;
    expect(first?.type).toBe('plants.changed');
    expect(first?.body).toContain('"plant":{"id":1152921504606846977,"name":"Monstera 🌱"');
    expect(second?.body).toContain('"type":"deleted"');
    expect(second?.id).not.toBe(first?.id);
    expect(receiver.rejected).toBe(0);
    await expect
      .poll(() => show(receiver.name))
      .toMatchObject({ state: 'active', lastAttempt: { id: second?.id, status: 200 } });
  });

  it('sends each of many changes once, in order', async () => {
    const receiver = await follow();
    const plants = [...newPlants(250), ...newPlants(5, { name: 'x'.repeat(50_000) })];
    await createAll(suite.store, plants);
    await vi.waitFor(() => expect(receiver.changes()).toHaveLength(255));
    expect(receiver.changes()).toEqual(plants.map(({ id }) => `created ${id}`));
  });

  it('sends the changes after a given cursor', async () => {
    const from = await endOf(suite.store);
    const id = await create();
    const receiver = await follow(undefined, { from });
    await vi.waitFor(() => expect(receiver.changes()).toEqual([`created ${id}`]));
  });

  it('sends a message again with the same id until the endpoint accepts it', async () => {
    const statuses = [500, 302, 200];
    const receiver = await follow((response) => {
      response.writeHead(statuses.shift() ?? 200, { location: '/elsewhere' }).end('no room');
    });
    await create();
    await expect
      .poll(() => show(receiver.name))
      .toMatchObject({ state: 'active', lastAttempt: { status: 200 } });
    const [first] = receiver.received;
    expect(receiver.received.map(({ id }) => id)).toEqual(Array(3).fill(first?.id));
  });

  it('pauses a webhook after the last retry, emits a warning, and continues after a resume', async () => {
    const { store } = suite;
    const warnings: string[] = [];
    store.events.on('warning', (message) => warnings.push(message));
    let status = 500;
    const receiver = await follow((response) => response.writeHead(status).end());
    const id = await create();
    const paused = {
      state: 'paused',
      pausedBecause: '4 attempts failed',
      lastAttempt: { status: 500, error: expect.stringContaining('500') },
    };
    await vi.waitFor(async () => expect(await show(receiver.name)).toMatchObject(paused));
    expect(warnings).toEqual([expect.stringContaining(`the webhook "${receiver.name}" is paused`)]);
    status = 200;
    await store.delete(id);
    expect(await store.webhooks.setPaused(receiver.name, false)).toMatchObject({ state: 'active' });
    await vi.waitFor(() => expect(receiver.changes().at(-1)).toBe(`deleted ${id}`));
  });

  it('sends no change while the webhook is paused, and all changes afterwards', async () => {
    const from = await endOf(suite.store);
    const receiver = await follow(undefined, { from });
    const other = await follow(undefined, { from });
    await suite.store.webhooks.setPaused(receiver.name, true);
    const ids = [await create(), await create()];
    await vi.waitFor(() => expect(other.changes()).toHaveLength(2));
    expect(await show(receiver.name)).toMatchObject({ state: 'paused' });
    expect(receiver.received).toEqual([]);
    await suite.store.webhooks.setPaused(receiver.name, false);
    await vi.waitFor(() => expect(receiver.changes()).toEqual(ids.map((id) => `created ${id}`)));
  });

  it('tells an endpoint to list the plants again when the cursor has expired', async () => {
    const { store } = suite;
    const after = await endOf(store);
    const receiver = await follow(undefined, { from: after });
    await store.webhooks.setPaused(receiver.name, true);
    await store.delete(await create());
    const id = await create();
    await store.feed.forgetDeletions(0);
    // For some seconds, the process may read the changes from memory. The cursor expires only later.
    await vi.waitFor(() =>
      expect(store.changes({ after, wait: 1 })).rejects.toMatchObject({ kind: 'cursorExpired' }),
    );
    await store.webhooks.setPaused(receiver.name, false);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
    expect(receiver.received[0]).toMatchObject({ type: 'plants.reset', changes: [] });
    await store.delete(id);
    await vi.waitFor(() => expect(receiver.changes()).toEqual([`deleted ${id}`]));
  });

  it('a replay repeats the changes since a time or after a cursor', async () => {
    const { store } = suite;
    const from = await endOf(store);
    const receiver = await follow(undefined, { from });
    const ids = [await create(), await create()];
    const all = ids.map((id) => `created ${id}`);
    await vi.waitFor(() => expect(receiver.changes()).toEqual(all));
    await store.webhooks.replay(receiver.name, { after: from });
    await vi.waitFor(() => expect(receiver.changes()).toEqual([...all, ...all]));
    const { createdAt: since } = (await store.get(ids[1] ?? 0n)) ?? {};
    if (!since) throw new Error('the plant is missing');
    await store.webhooks.replay(receiver.name, { since });
    await vi.waitFor(() => expect(receiver.changes().at(-1)).toBe(all[1]));
    await vi.waitFor(() => expect(receiver.changes().length).toBeGreaterThan(4));
  });

  it('signs with the new secret after a rotation', async () => {
    const receiver = await follow();
    receiver.secret = await suite.store.webhooks.rotateSecret(receiver.name);
    const id = await create();
    await vi.waitFor(() => expect(receiver.changes()).toEqual([`created ${id}`]));
    expect(receiver.rejected).toBe(0);
  });

  it('sends a test message, and returns the status of the response', async () => {
    const receiver = await follow();
    expect(await suite.store.webhooks.test(receiver.name)).toMatchObject({ status: 200 });
    expect(receiver.received).toMatchObject([{ type: 'plants.test' }]);
    await expect(suite.store.webhooks.test('nobody')).rejects.toMatchObject({ code: 40403 });
  });

  it('lists and shows webhooks without their secrets, and deletes webhooks', async () => {
    const { store } = suite;
    const receiver = await follow();
    const names: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await store.webhooks.list({ after, limit: 1 });
      names.push(...page.webhooks.map(({ name }) => name));
      after = page.next;
      if (after === undefined) break;
    }
    expect(names).toContain(receiver.name);
    expect(names).toEqual(names.toSorted());
    expect(JSON.stringify([await store.webhooks.list(), await show(receiver.name)])).not.toContain(
      receiver.secret,
    );
    await store.webhooks.delete(receiver.name);
    const { get, delete: remove, rotateSecret } = store.webhooks;
    for (const call of [get, remove, rotateSecret]) {
      await expect(call(receiver.name)).rejects.toMatchObject({ kind: 'webhookUnknown' });
    }
  });

  it.each([
    ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '169.254.169.254', '172.16.0.1', '192.168.1.1'],
    ...['198.18.0.1', '224.0.0.1', '255.255.255.255', '0x0a.1', '167772161', '１０.０.０.１'],
    ...['[::]', '[::1]', '[::ffff:a00:1]', '[64:ff9b::a00:1]', '[2001:db8::1]', '[2002:a00:1::]'],
    ...['[fc00::1]', '[fe80::1]', '[fd00:ec2::254]'],
  ])('rejects the address %s, which is not public', async (host) => {
    await expect(suite.store.webhooks.create({ url: `https://${host}/` })).rejects.toMatchObject({
      kind: 'invalidInput',
    });
  });

  it('does not connect to a private address, even when a host name resolves to this address', async () => {
    const { store } = await openForTest(profile);
    const receiver = await startReceiver();
    await expect(store.webhooks.create({ url: receiver.url })).rejects.toMatchObject({
      code: 40001,
    });
    const url = receiver.url.replace('http://127.0.0.1', 'https://localhost');
    const { name } = await store.webhooks.create({ url }).catch(() => ({ name: '' }));
    if (name) expect(await store.webhooks.test(name)).not.toMatchObject({ status: 200 });
    expect(receiver.received.length + receiver.rejected).toBe(0);
  });

  if (!profile.hasInstances) return;

  describe('with several instances', () => {
    it('sends each change only once', async () => {
      const { store, options } = await openForTest(profile, { webhooks });
      const stores = [store, await openAnother(options, { webhooks })];
      const receiver = await startReceiver();
      receiver.secret = (await store.webhooks.create({ url: receiver.url })).secret;
      for (const { webhooks } of stores) webhooks.send();
      const plants = newPlants(300);
      await createAll(store, plants);
      await vi.waitFor(() => expect(receiver.changes()).toHaveLength(300));
      expect(receiver.received.flatMap(({ changes }) => changes)).toHaveLength(300);
    });

    it('repeats the message of a stopped instance, and keeps the id of the message', async () => {
      const { store, options } = await openForTest(profile, { webhooks });
      const first = await openAnother(options, { webhooks });
      const receiver = await startReceiver(() => {}); // Never responds.
      const from = await endOf(store);
      receiver.secret = (await store.webhooks.create({ url: receiver.url, from })).secret;
      // `store` keeps each change in its own page, and `first` reads all changes in one page.
      await store.changes({ after: from, wait: 1 }); // After this call, `store` keeps pages.
      const pages = store.follow({ after: from });
      for (const id of [1n, 2n, 3n]) {
        const page = pages.next();
        await store.create({ id, name: 'Hoya' });
        expect((await page).value.changes).toMatchObject([{ plant: { id } }]);
      }
      pages.next().catch(() => {}); // While a follower waits, `store` keeps pages.
      first.webhooks.send();
      const all = ['created 1', 'created 2', 'created 3'];
      await vi.waitFor(() => expect(receiver.changes()).toEqual(all));
      await first.close();
      receiver.respond = (response) => response.end();
      store.webhooks.send();
      await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(1));
      const [one, other] = receiver.received;
      expect(other?.id).toBe(one?.id);
      await vi.waitFor(() => expect(receiver.changes()).toEqual(all));
    });
  });
});
