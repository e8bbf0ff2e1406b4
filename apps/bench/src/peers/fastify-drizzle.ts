import Fastify from 'fastify';
import {
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { z } from 'zod';
import { accessToken, address } from './environment.ts';
import * as plants from './plants.ts';

// https://github.com/turkerdev/fastify-type-provider-zod#how-to-use
const app = Fastify();
app.setValidatorCompiler(validatorCompiler);
app.setSerializerCompiler(serializerCompiler);

// https://fastify.dev/docs/latest/Reference/Hooks/#respond-to-a-request-from-a-hook
app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${accessToken}`) return reply.code(401).send();
});

const typed = app.withTypeProvider<ZodTypeProvider>();

typed.route({
  method: 'POST',
  url: '/plants',
  schema: { body: plants.NewPlant, response: { 200: plants.Plant } },
  handler: async ({ body }) => {
    await plants.insertPlant(body);
    return body;
  },
});

typed.route({
  method: 'POST',
  url: '/plants/batch',
  schema: { body: plants.NewPlants, response: { 200: plants.CreateResults } },
  handler: ({ body }) => plants.insertPlants(body),
});

typed.route({
  method: 'GET',
  url: '/plants/:id',
  schema: { params: plants.PlantId, response: { 200: plants.StoredPlant, 404: z.undefined() } },
  handler: async ({ params }, reply) => {
    return (await plants.selectPlant(params)) ?? reply.code(404).send();
  },
});

typed.route({
  method: 'GET',
  url: '/plants',
  schema: { querystring: plants.ListPlants, response: { 200: plants.PlantPage } },
  handler: ({ query }) => plants.selectPage(query),
});
console.log(await app.listen(address));
