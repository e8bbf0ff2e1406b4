import { initTRPC, TRPCError } from '@trpc/server';
import type { CreateFastifyContextOptions } from '@trpc/server/adapters/fastify';
import Fastify from 'fastify';
import superjson from 'superjson';
import { fastifyTRPCOpenApiPlugin, type OpenApiMeta } from 'trpc-to-openapi';
import { accessToken, address } from './environment.ts';
import * as plants from './plants.ts';

// https://trpc.io/docs/server/context and https://trpc.io/docs/server/authorization
function createContext({ req }: CreateFastifyContextOptions) {
  return { isAuthorized: req.headers.authorization === `Bearer ${accessToken}` };
}

const t = initTRPC
  .meta<OpenApiMeta>()
  .context<typeof createContext>()
  .create({ transformer: superjson });

const protectedProcedure = t.procedure.use(({ ctx, next }) => {
  if (!ctx.isAuthorized) throw new TRPCError({ code: 'UNAUTHORIZED' });
  return next();
});

const appRouter = t.router({
  createPlant: protectedProcedure
    .meta({ openapi: { method: 'POST', path: '/plants' } })
    .input(plants.NewPlant)
    .output(plants.Plant)
    .mutation(async ({ input }) => {
      await plants.insertPlant(input);
      return input;
    }),

  createPlants: protectedProcedure
    .meta({ openapi: { method: 'POST', path: '/plants/batch' } })
    .input(plants.NewPlants)
    .output(plants.CreateResults)
    .mutation(({ input }) => plants.insertPlants(input)),

  getPlant: protectedProcedure
    .meta({ openapi: { method: 'GET', path: '/plants/{id}' } })
    .input(plants.PlantId)
    .output(plants.StoredPlant)
    .query(async ({ input }) => {
      const plant = await plants.selectPlant(input);
      if (!plant) throw new TRPCError({ code: 'NOT_FOUND' });
      return plant;
    }),

  listPlants: protectedProcedure
    .meta({ openapi: { method: 'GET', path: '/plants' } })
    .input(plants.ListPlants)
    .output(plants.PlantPage)
    .query(({ input }) => plants.selectPage(input)),
});

// https://github.com/mcampa/trpc-to-openapi#with-fastify
const fastify = Fastify({ bodyLimit: 2 ** 20 });
await fastify.register(fastifyTRPCOpenApiPlugin, { router: appRouter, createContext });
console.log(await fastify.listen(address));
