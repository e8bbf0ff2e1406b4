import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify';
import fastify from 'fastify';
import { address } from './environment.ts';
import { appRouter, createContext } from './trpc-router.ts';

// https://trpc.io/docs/server/adapters/fastify#create-fastify-server
const server = fastify({ routerOptions: { maxParamLength: 5000 } });
const trpcOptions = { router: appRouter, createContext };
server.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions });
console.log(await server.listen(address));
