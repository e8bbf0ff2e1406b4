import Fastify from 'fastify';
import {
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { accessToken, address } from './environment.ts';
import { insertPlant, NewPlant, Plant } from './plants.ts';

// https://github.com/turkerdev/fastify-type-provider-zod#how-to-use
const app = Fastify();
app.setValidatorCompiler(validatorCompiler);
app.setSerializerCompiler(serializerCompiler);

// https://fastify.dev/docs/latest/Reference/Hooks/#respond-to-a-request-from-a-hook
app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${accessToken}`) return reply.code(401).send();
});

app.withTypeProvider<ZodTypeProvider>().route({
  method: 'POST',
  url: '/plants',
  schema: { body: NewPlant, response: { 200: Plant } },
  handler: async (request) => {
    await insertPlant(request.body);
    return request.body;
  },
});
console.log(await app.listen(address));
