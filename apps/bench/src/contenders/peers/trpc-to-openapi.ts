import Fastify from 'fastify';
import { fastifyTRPCOpenApiPlugin } from 'trpc-to-openapi';
import { address } from './environment.ts';
import { appRouter, createContext } from './trpc-router.ts';

// https://github.com/mcampa/trpc-to-openapi#with-fastify
const fastify = Fastify();
await fastify.register(fastifyTRPCOpenApiPlugin, { router: appRouter, createContext });
console.log(await fastify.listen(address));
