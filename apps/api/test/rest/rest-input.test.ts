import { openPlantStore, type PlantStore } from '@plant-store/core';
import type { Operation } from '@plant-store/schemas';
import { createDatabase } from '@plant-store/test-setup';
import { initTRPC } from '@trpc/server';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import * as z from 'zod';
import { requireToken } from '../../src/auth/authentication.ts';
import { createLargeBodyQueue } from '../../src/http/body/large-body-queue.ts';
import { rest } from '../../src/rest/rest.ts';

const t = initTRPC.meta<{ openapi: Operation }>().create();
const anyInput = t.procedure.input(z.unknown());
const router = t.router({
  find: anyInput
    .meta({ openapi: { method: 'GET', path: '/plants/{id}', status: 200 } })
    .query(({ input }) => ({ input })),
  remove: anyInput
    .meta({ openapi: { method: 'DELETE', path: '/plants/{id}', status: 200 } })
    .mutation(({ input }) => ({ input })),
  rename: anyInput
    .meta({ openapi: { method: 'PUT', path: '/plants/{id}/name', status: 200 } })
    .mutation(({ input }) => ({ input })),
});

let store: PlantStore;
let server: FastifyInstance;

beforeAll(async () => {
  store = await openPlantStore({ databaseUrl: await createDatabase(inject('postgresUrl')) });
  server = fastify();
  server.addHook(
    'onRequest',
    requireToken(() => ({ name: 'test', scopes: [] })),
  );
  await server.register(rest, { store, router, queueBody: createLargeBodyQueue() });
});

afterAll(async () => {
  await server.close();
  await store.close();
});

it.each([
  ['GET', '/plants/7?tag=Araceae', undefined, { id: '7', tag: 'Araceae' }],
  ['GET', '/plants/a%2Fb', undefined, { id: 'a/b' }],
  ['DELETE', '/plants/7', undefined, { id: '7' }],
  ['PUT', '/plants/7/name', { name: 'Hoya', id: 8 }, { name: 'Hoya', id: '7' }],
  ['PUT', '/plants/7/name', [1], [1]],
] as const)(
  'makes the input of %s %s from the path, the query and the body %j',
  async (method, url, body, input) => {
    const response = await server.inject({
      method,
      url,
      headers: { authorization: 'Bearer secret' },
      ...(body && { payload: body }),
    });
    expect(response.json()).toEqual({ input });
  },
);
