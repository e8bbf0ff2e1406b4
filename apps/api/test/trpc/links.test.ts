import type { AppRouter } from '@plant-store/core/router';
import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
} from '@trpc/client';
import superjson from 'superjson';
import { describe, expect, it } from 'vitest';
import { shareServer } from '../fixtures/running-server.ts';

const server = shareServer();

const links = [
  { name: 'httpLink', link: httpLink },
  { name: 'httpBatchLink', link: httpBatchLink },
  { name: 'httpBatchStreamLink', link: httpBatchStreamLink },
];

describe.each(links)('$name of the tRPC client', ({ name, link }) => {
  const client = (token = server.token) =>
    createTRPCClient<AppRouter>({
      links: [
        link({
          url: `${server.url}/trpc`,
          transformer: superjson,
          headers: { authorization: `Bearer ${token}` },
        }),
      ],
    });
  const firstId = BigInt(links.findIndex((each) => each.name === name)) * 1000n;

  it('creates a plant with an id that is a bigint or a number', async () => {
    const plant = { name: 'Monstera deliciosa', tag: 'Araceae' };
    const id = firstId + 9007199254740993n;
    expect(await client().createPlant.mutate({ id, ...plant })).toStrictEqual(plant);
    expect(await client().createPlant.mutate({ id, ...plant })).toStrictEqual(plant);
    const small = await client().createPlant.mutate({ id: Number(firstId), name: 'x' });
    expect(small).toStrictEqual({ name: 'x' });
  });

  it('creates a plant without a tag when the tag is undefined', async () => {
    const plant = await client().createPlant.mutate({
      id: firstId + 200n,
      name: 'x',
      tag: undefined,
    });
    expect(plant).toStrictEqual({ name: 'x' });
  });

  it('gets the error code of each failed call in error.data', async () => {
    const { createPlant } = client();
    await createPlant.mutate({ id: firstId + 300n, name: 'x' });
    const [taken, invalid, good] = await Promise.allSettled([
      createPlant.mutate({ id: firstId + 300n, name: 'y' }),
      createPlant.mutate({ id: 1.5, name: 'x' }),
      createPlant.mutate({ id: firstId + 301n, name: 'x' }),
    ]);
    expect(taken).toMatchObject({
      reason: {
        message: `id ${firstId + 300n} belongs to another plant: choose an id that is free`,
        data: { error: 40900, code: 'CONFLICT', httpStatus: 409, path: 'createPlant' },
      },
    });
    expect(invalid).toMatchObject({ reason: { data: { error: 40001, code: 'BAD_REQUEST' } } });
    expect(good).toEqual({ status: 'fulfilled', value: { name: 'x' } });
  });

  it('gets the errors of each field of the input in error.data', async () => {
    const plant: object = { id: 1.5, tag: '\0' };
    const create = client().createPlant.mutate(plant as { id: number; name: string }); // TypeScript would reject this plant.
    await expect(create).rejects.toMatchObject({
      data: {
        error: 40001,
        fields: {
          id: ['must be an integer from -9223372036854775808 to 9223372036854775807'],
          name: ['is missing: it must be a string'],
          tag: ['must not contain U+0000 or a lone surrogate'],
        },
      },
    });
  });
});
