import { openPlantStore, type PlantStore } from '@plant-store/core';
import { define } from '@plant-store/core/internal';
import { appRouter, type Context } from '@plant-store/core/router';
import { formatJson, Int64, scopes } from '@plant-store/schemas';
import { createDatabase } from '@plant-store/test-setup';
import { createTRPCClient, httpLink } from '@trpc/client';
import { initTRPC } from '@trpc/server';
import { type FastifyInstance, fastify } from 'fastify';
import superjson from 'superjson';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import * as z from 'zod';
import { openApiDocument } from '../../openapi/openapi-document.ts';
import { requireToken } from '../../src/auth/authentication.ts';
import { createLargeBodyQueue } from '../../src/requests/body/large-body-queue.ts';
import { limitMemory } from '../../src/requests/memory/limit-memory.ts';
import { createMemoryBudget } from '../../src/requests/memory/memory-budget.ts';
import { handleError } from '../../src/requests/send-error.ts';
import { rest } from '../../src/surfaces/rest.ts';
import { trpc } from '../../src/surfaces/trpc/trpc.ts';

const { transformer, errorFormatter } = appRouter._def._config;
const t = initTRPC.context<Context>().create({ transformer, errorFormatter });
const procedures = {
  getThing: define({
    type: 'query',
    meta: { scope: 'none', openapi: { method: 'GET', path: '/things/{id}', status: 200 } },
    input: z.object({ id: Int64, after: Int64.optional() }),
    output: z.object({ id: z.bigint(), after: z.bigint().optional() }),
    run: ({ input }) => input,
  }),
};
const router = t.router(procedures);

let store: PlantStore;
let server: FastifyInstance;
let url: string;

beforeAll(async () => {
  openApiDocument(router, procedures); // trpc-to-openapi must not make the schemas coerce.
  store = await openPlantStore({ databaseUrl: await createDatabase(inject('postgresUrl')) });
  server = fastify();
  server.decorate('logError', () => {});
  server.setErrorHandler(handleError);
  server.addHook(
    'onRequest',
    requireToken(() => ({ name: 'test', scopes })),
  );
  const queueBody = createLargeBodyQueue();
  await server.register(rest, { store, procedures, queueBody });
  const memory = limitMemory(createMemoryBudget(2 ** 20));
  // The type of the surface names the store's own router, but the surface serves any router.
  const options = { store, router: router as never, procedures, memory, queueBody };
  await server.register(trpc, { ...options, prefix: '/trpc' });
  url = await server.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await server.close();
  await store.close();
});

const headers = { authorization: 'Bearer token' };

const overRest = async (path: string) => {
  const response = await fetch(url + path, { headers });
  return response.text();
};

const overTrpc = (input: { id: bigint | number; after?: bigint | number }) =>
  createTRPCClient<typeof router>({
    links: [httpLink({ url: `${url}/trpc`, headers, transformer: superjson })],
  }).getThing.query(input);

describe('GET /things/{id}', () => {
  it.each([0n, -5n, 9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)])(
    'gets the id %s over both surfaces',
    async (id) => {
      expect(await overRest(`/things/${id}`)).toBe(formatJson({ id }));
      expect(await overTrpc({ id })).toEqual({ id });
    },
  );

  it('reads an id in the query', async () => {
    expect(await overRest('/things/1?after=-2')).toBe('{"id":1,"after":-2}');
    expect(await overTrpc({ id: 1, after: -2 })).toEqual({ id: 1n, after: -2n });
  });

  it.each([true, null, [], 1.5])('rejects %s over tRPC', async (id) => {
    const call = overTrpc({ id: id as never }); // The test needs a wrong type.
    await expect(call).rejects.toMatchObject({ data: { error: 40001 } });
  });

  it('has plain int64 parameters in the document', () => {
    const int64 = {
      type: 'integer',
      format: 'int64',
      minimum: -9223372036854775808n,
      maximum: 9223372036854775807n,
    };
    const { paths } = openApiDocument(router, procedures);
    expect(paths?.['/things/{id}']?.get?.parameters).toEqual([
      { in: 'path', name: 'id', required: true, schema: int64 },
      { in: 'query', name: 'after', schema: int64 },
    ]);
  });
});
