import Fastify from 'fastify';
import postgres from 'postgres';
import { accessToken, address, databaseUrl } from './environment.ts';

// Written by hand for speed: Fastify compiles the JSON schemas, and postgres.js pipelines one prepared
// statement over its default pool of ten connections (https://github.com/porsager/postgres#usage).
const sql = postgres(databaseUrl);
const fastify = Fastify();

// https://fastify.dev/docs/latest/Reference/Hooks/#respond-to-a-request-from-a-hook
fastify.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${accessToken}`) return reply.code(401).send();
});

const plant = { name: { type: 'string' }, tag: { type: 'string' } };

// https://fastify.dev/docs/latest/Reference/Validation-and-Serialization/
const schema = {
  body: {
    type: 'object',
    required: ['id', 'name'],
    properties: { id: { type: 'integer' }, ...plant },
  },
  response: { 200: { type: 'object', properties: plant } },
};

interface NewPlant {
  id: number;
  name: string;
  tag?: string;
}

fastify.post<{ Body: NewPlant }>('/plants', { schema }, async ({ body }) => {
  const { id, name, tag = null } = body;
  await sql`insert into plants (id, name, tag) values (${id}, ${name}, ${tag}) on conflict do nothing`;
  return body;
});
console.log(await fastify.listen(address));
