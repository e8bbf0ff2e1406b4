import { describe, expect, it } from 'vitest';
import { itNeedsTheScope } from '../fixtures/access.ts';
import { surfaceCallers } from '../fixtures/callers.ts';
import { shareServer } from '../fixtures/server.ts';
import { post } from '../fixtures/surfaces.ts';

const server = shareServer();

const createHoya = () => post(server, '/plants', '{"id":1,"name":"Hoya"}');

itNeedsTheScope('plants:delete', server, 'deletePlant', async () => {
  await createHoya();
  return { id: 1 };
});

describe.each(surfaceCallers)('deletePlant over $name', ({ name, call }) => {
  const remove = (id: unknown) => call(server, 'deletePlant', { id });

  it('deletes the plant, responds without a body, and frees the id', async () => {
    await createHoya();
    const { status, output } = await remove(1n);
    expect([status, output]).toEqual([name === 'REST' ? 204 : 200, undefined]);
    expect(await call(server, 'getPlant', { id: 1n })).toMatchObject({ error: 40401 });
    const other = await call(server, 'createPlant', { id: 1n, name: 'Pilea' });
    expect(other.status).toBe(200);
    await remove(1n);
  });

  it('responds with 40401 when there is no plant', async () => {
    const outcome = await remove(3n);
    expect(outcome).toMatchObject({ status: 404, error: 40401 });
    expect(outcome.message).toContain('3');
  });

  it('lets exactly one of ten deletes of a plant succeed', async () => {
    await createHoya();
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => remove(1n)));
    expect(outcomes.filter(({ error }) => error === 40401)).toHaveLength(9);
  });

  it.each([2n ** 63n, 1.5, true, 'five'])('rejects the id %s', async (id) => {
    const outcome = await remove(id);
    expect(outcome).toMatchObject({ status: 400, error: 40001 });
    expect(outcome.message).toMatch(/\bid must be/);
  });
});

it('responds to DELETE without a content type or a length, and ignores a body', async () => {
  await createHoya();
  const { status, headers } = await fetch(`${server.url}/plants/1`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${server.token}` },
    body: '{not JSON',
  });
  expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([
    204,
    null,
    null,
  ]);
});
