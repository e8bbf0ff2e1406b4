import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify';
import fastify from 'fastify';
import { address } from './environment.ts';
import { appRouter, createContext } from './trpc-router.ts';

// https://trpc.io/docs/server/adapters/fastify#create-fastify-server
const server = fastify({ routerOptions: { maxParamLength: 5000 } });
server.register(fastifyTRPCPlugin, {
  prefix: '/trpc',
  trpcOptions: {
    router: appRouter,
    createContext,
  } satisfies FastifyTRPCPluginOptions<typeof appRouter>['trpcOptions'],
});
console.log(await server.listen(address));
