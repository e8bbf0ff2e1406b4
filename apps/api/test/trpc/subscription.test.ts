import { openPlantStore, type PlantStore } from '@plant-store/core';
import { appRouter, type Context } from '@plant-store/core/router';
import { createDatabase } from '@plant-store/test-setup';
import { initTRPC, tracked } from '@trpc/server';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import * as z from 'zod';
import { requireToken } from '../../src/auth/authentication.ts';
import { limitBodies } from '../../src/http/body/body-budget.ts';
import { createLargeBodyQueue } from '../../src/http/body/large-body-queue.ts';
import { handleError } from '../../src/http/send-error.ts';
import { trpc } from '../../src/trpc/trpc.ts';

const { transformer, errorFormatter } = appRouter._def._config;
const t = initTRPC.context<Context>().create({ transformer, errorFormatter });
const router = t.router({
  count: t.procedure.input(z.object({ lastEventId: z.string() })).subscription(async function* ({
    input,
  }) {
    const next = Number(input.lastEventId) + 1;
    yield tracked(String(next), next);
  }),
});

let store: PlantStore;
let server: FastifyInstance;

beforeAll(async () => {
  store = await openPlantStore({ databaseUrl: await createDatabase(inject('postgresUrl')) });
  server = fastify();
  server.decorate('logError', () => {});
  server.setErrorHandler(handleError);
  server.addHook(
    'onRequest',
    requireToken(() => ({ name: 'test', scopes: [] })),
  );
  // The surface is typed for the store's own router, but serves any.
  const options = { router: router as never, bodies: limitBodies(2 ** 20) };
  await server.register(trpc, {
    ...options,
    store,
    queueBody: createLargeBodyQueue(),
    prefix: '/trpc',
  });
});

afterAll(async () => {
  await server.close();
  await store.close();
});

const get = (url: string) => server.inject({ url, headers: { authorization: 'Bearer token' } });

it('sends the events of a subscription, from the last one that the client has', async () => {
  const { statusCode, headers, body } = await get('/trpc/count?lastEventId=41');
  expect(statusCode).toBe(200);
  expect(headers['content-type']).toBe('text/event-stream');
  expect(body).toContain('data: {"json":42}\nid: 42\n');
});

it('rejects another query parameter of a subscription', async () => {
  const { statusCode, body } = await get('/trpc/count?lastEventId=41&more=1');
  expect(statusCode).toBe(400);
  expect(body).toContain('"error":40001');
});
