import { describe, expect, it, vi } from 'vitest';
import { itNeedsTheScope, tokenWith } from '../fixtures/access.ts';
import { callers, surfaceCallers } from '../fixtures/callers.ts';
import { shareServerOnOwnPostgres } from '../fixtures/server.ts';
import { get } from '../fixtures/surfaces.ts';

interface Changes {
  changes: { type: string; plant: { id: bigint; name: string } }[];
  next: string;
}

const server = shareServerOnOwnPostgres();
const [rest] = callers;
let lastId = 0n;
const create = async (name = 'x') => {
  const id = ++lastId;
  await rest.call(server, 'createPlant', { id, name, tag: 'y' });
  return id;
};

/** A cursor of another database. */
const otherCursor = Buffer.from('0123456789abcdef 1').toString('base64url');

itNeedsTheScope('plants:read', server, 'listPlantChanges', () => ({}));

describe.each(surfaceCallers)('listPlantChanges over $name', ({ call }) => {
  const read = async (input: Record<string, unknown> = {}, token = server.token) =>
    (await call({ ...server, token }, 'listPlantChanges', input)).output as Changes;
  const idsIn = ({ changes }: Changes) => changes.map(({ plant }) => plant.id);

  it('without a cursor, returns no changes and the cursor of the end of the feed', async () => {
    const { changes, next } = await read();
    expect([changes, typeof next]).toEqual([[], 'string']);
  });

  it('returns the changes after a cursor in pages, each with its plant', async () => {
    const { next: start } = await read();
    const ids = [await create(), await create(), await create()];
    const created: Changes['changes'] = [];
    let next = start;
    while (created.length < 3) {
      const page = await read({ after: next, limit: 2 });
      expect(page.changes.length).toBeLessThanOrEqual(2);
      created.push(...page.changes);
      next = page.next;
    }
    expect(created.map(({ plant }) => plant.id)).toEqual(ids);
    expect(created[0]).toEqual({
      type: 'created',
      plant: { id: ids[0], name: 'x', tag: 'y', createdAt: expect.any(Date) },
    });
    await call(server, 'deletePlant', { id: ids[2] });
    const { changes } = await read({ after: next });
    expect(changes).toMatchObject([{ type: 'deleted', plant: { id: ids[2], name: 'x' } }]);
    let again = await read({ after: start });
    while (again.changes.at(-1)?.type === 'created') again = await read({ after: again.next });
    expect(again.changes.at(-1)).toMatchObject({ type: 'deleted', plant: { id: ids[2] } });
  });

  it('returns a replacement as `updated`, with the new content', async () => {
    const id = await create();
    const { next: after } = await read();
    await call(server, 'replacePlant', { id, name: 'new' });
    const [change, ...others] = (await read({ after })).changes;
    expect(change).toMatchObject({
      type: 'updated',
      plant: { id, name: 'new', updatedAt: expect.any(Date) },
    });
    expect([change?.plant, others]).toEqual([expect.not.objectContaining({ tag: 'y' }), []]);
  });

  it('waits for a change', async () => {
    const { next } = await read();
    const page = read({ after: next, wait: 20 });
    const id = await create('awaited');
    expect((await page).changes).toMatchObject([{ type: 'created', plant: { id } }]);
  });

  it('returns a valid cursor after a wait without changes', async () => {
    const { next: after } = await read();
    const { changes, next } = await read({ after, wait: 1 });
    expect(changes).toEqual([]);
    const id = await create();
    expect(idsIn(await read({ after: next }))).toEqual([id]);
  });

  it('sends no change to a client whose token is revoked during the wait', async () => {
    const token = await tokenWith(server, ['plants:read']);
    const { output } = await rest.call({ ...server, token }, 'whoAmI', {});
    const { next } = await read();
    const waiting = call({ ...server, token }, 'listPlantChanges', { after: next, wait: 20 });
    await rest.call(server, 'revokeAccessToken', { id: Object(output).tokenId });
    await create('secret');
    expect(await waiting).toMatchObject({ status: 401, error: 40101 });
  });

  it('responds with 41000 to a cursor of another database', async () => {
    const outcome = await call(server, 'listPlantChanges', { after: otherCursor });
    expect(outcome).toMatchObject({ status: 410, error: 41000 });
  });

  it.each([
    [{ after: 'x' }, 'after'],
    [{ after: '' }, 'after'],
    [{ limit: 0 }, 'limit'],
    [{ limit: 1001 }, 'limit'],
    [{ wait: -1 }, 'wait'],
    [{ wait: 21 }, 'wait'],
    [{ more: 1 }, '"more"'],
    [{ tag: 'y' }, '"tag"'],
    [{ only: 'created' }, '"only"'],
  ])('rejects the input %j, and names %s', async (input, name) => {
    const outcome = await call(server, 'listPlantChanges', input);
    expect(outcome).toMatchObject({ status: 400, error: 40001 });
    expect(outcome.message).toContain(name);
  });
});

it('lets a thousand requests wait, rejects the next one, and responds to other requests', async () => {
  const { next } = Object(await (await get(server, '/plants/changes')).json());
  const rejected: string[] = [];
  const waiting = Array.from({ length: 1_001 }, async () => {
    const response = await get(server, `/plants/changes?after=${next}&wait=20`);
    const text = await response.text();
    if (response.status === 503) rejected.push(text);
    return text;
  });
  await vi.waitFor(() => expect(rejected).toEqual([expect.stringContaining('50301')]));
  for (const path of ['/plants', `/plants/${await create()}`, '/readyz']) {
    expect((await get(server, path)).status).toBe(200);
  }
  const texts = new Set(await Promise.all(waiting));
  texts.delete(rejected[0] ?? '');
  expect([...texts]).toEqual([expect.stringContaining(`"id":${lastId},`)]);
});
