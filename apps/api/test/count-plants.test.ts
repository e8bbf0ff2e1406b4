import { beforeAll, describe, expect, it } from 'vitest';
import { callers } from './fixtures/callers.ts';
import { shareServer, startServerOn } from './fixtures/running-server.ts';

describe.each(callers)('over $name', ({ call }) => {
  const server = shareServer();

  beforeAll(async () => {
    for (let id = 1n; id <= 7n; id++) {
      await server.store.create({ id, name: 'x', ...(id <= 3n && { tag: '🌻 100%s' }) });
    }
  });

  it('counts all plants', async () => {
    const { status, output } = await call(server, 'countPlants', {});
    expect(status).toBe(200);
    expect(output).toStrictEqual({ count: 7, isExact: true });
  });

  it.each([
    ['🌻 100%s', 3],
    ['🌻', 0],
    ['', 0],
  ])('counts the plants with the tag %j', async (tag, count) => {
    const { output } = await call(server, 'countPlants', { tag });
    expect(output).toStrictEqual({ count, isExact: true });
  });

  it('stops counting at a million plants', async () => {
    const countUpTo = async (limit: number) => limit;
    const full = await startServerOn({ ...server.store, countUpTo });
    const { output } = await call(full, 'countPlants', {});
    expect(output).toStrictEqual({ count: 1_000_000, isExact: false });
    await full.stop();
  });

  it.each([
    [{ tag: '\0' }, 'invalid input: tag must not contain U+0000 or a lone surrogate'],
    [{ limit: 5 }, 'invalid input: it has no parameter "limit"'],
  ])('rejects the input %j', async (input, message) => {
    const outcome = await call(server, 'countPlants', input);
    expect(outcome).toMatchObject({ status: 400, error: 40001, message });
  });
});
