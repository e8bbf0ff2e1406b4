import { initTRPC, TRPCError } from '@trpc/server';
import type { CreateFastifyContextOptions } from '@trpc/server/adapters/fastify';
import superjson from 'superjson';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { accessToken } from './environment.ts';
import * as plants from './plants.ts';

// https://trpc.io/docs/server/context and https://trpc.io/docs/server/authorization
export function createContext({ req }: CreateFastifyContextOptions) {
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

export const appRouter = t.router({
  createPlant: protectedProcedure
    .meta({ openapi: { method: 'POST', path: '/plants' } })
    .input(plants.NewPlant)
    .output(plants.Plant)
    .mutation(async ({ input }) => {
      await plants.insertPlant(input);
      return input;
    }),

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
