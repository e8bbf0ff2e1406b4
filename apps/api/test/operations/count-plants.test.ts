import { runSql } from '@plant-store/test-setup';
import { beforeAll, describe, expect, it } from 'vitest';
import { itNeedsTheScope } from '../fixtures/access.ts';
import { callers, surfaceCallers } from '../fixtures/callers.ts';
import { shareServer, startForTest } from '../fixtures/server.ts';

const server = shareServer();
const [rest] = callers;

beforeAll(async () => {
  const plants = [1, 2, 3, 4, 5, 6, 7].map((id) => ({
    ...{ id, name: 'x' },
    ...(id <= 3 && { tag: '🌻 100%s' }),
  }));
  await rest.call(server, 'createPlants', { plants });
});

itNeedsTheScope('plants:read', server, 'countPlants', () => ({}));

describe.each(surfaceCallers)('countPlants over $name', ({ call }) => {
  it.each([
    [{}, 7],
    [{ tag: '🌻 100%s' }, 3],
    [{ tag: '🌻' }, 0],
    [{ tag: '' }, 0],
  ])('counts the plants of %j', async (input, count) => {
    const { status, output } = await call(server, 'countPlants', input);
    expect({ status, output }).toStrictEqual({ status: 200, output: { count, isExact: true } });
  });

  it.each([
    [{ tag: '\0' }, 'tag'],
    [{ limit: 5 }, '"limit"'],
  ])('rejects the input %j, and names %s', async (input, name) => {
    const outcome = await call(server, 'countPlants', input);
    expect(outcome).toMatchObject({ status: 400, error: 40001 });
    expect(outcome.message).toContain(name);
  });
});

it('stops counting at a million plants', async () => {
  const own = await startForTest();
  const insert = (from: number, to: number) =>
    runSql(
      own.databaseUrl,
      `insert into plants (id, name) select id, 'x' from generate_series(${from}, ${to}) id`,
    );
  await insert(1, 1_000_000);
  const count = async () => (await rest.call(own, 'countPlants', {})).output;
  expect(await count()).toEqual({ count: 1_000_000, isExact: true });
  await insert(1_000_001, 1_000_001);
  expect(await count()).toEqual({ count: 1_000_000, isExact: false });
});
