import Fastify from 'fastify';
import postgres from 'postgres';
import { accessToken, address, databaseUrl } from './environment.ts';

// This server is written by hand for speed. Fastify compiles the JSON schemas. postgres.js pipelines one
// prepared statement over its default pool of ten connections (https://github.com/porsager/postgres#usage).
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

type NewPlant = { id: number; name: string; tag?: string };

fastify.post<{ Body: NewPlant }>('/plants', { schema }, async ({ body }) => {
  const { id, name, tag = null } = body;
  await sql`insert into plants (id, name, tag) values (${id}, ${name}, ${tag}) on conflict do nothing`;
  return body;
});

// postgres.js reads a bigint as text, and a timestamp as a Date.
const int64 = { type: 'string', pattern: '^-?[0-9]{1,19}$' };
const storedPlant = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    tag: { type: 'string', nullable: true },
    createdAt: { type: 'string', format: 'date-time' },
  },
};

const getSchema = {
  params: { type: 'object', required: ['id'], properties: { id: int64 } },
  response: { 200: storedPlant },
};

fastify.get<{ Params: { id: string } }>(
  '/plants/:id',
  { schema: getSchema },
  async ({ params: { id } }, reply) => {
    const [plant] = await sql`
      select id, name, tag, created_at as "createdAt" from plants where id = ${id}`;
    return plant ?? reply.code(404).send();
  },
);

const limit = { type: 'integer', minimum: 1, maximum: 1000, default: 100 };
const page = { plants: { type: 'array', items: storedPlant }, next: { type: 'string' } };
const listSchema = {
  querystring: { type: 'object', properties: { after: int64, limit } },
  response: { 200: { type: 'object', properties: page } },
};

fastify.get<{ Querystring: { after?: string; limit: number } }>(
  '/plants',
  { schema: listSchema },
  async ({ query: { after, limit } }) => {
    const plants = await sql`
      select id, name, tag, created_at as "createdAt" from plants
      ${after === undefined ? sql`` : sql`where id > ${after}`} order by id limit ${limit}`;
    return { plants, next: plants.length === limit ? plants.at(-1)?.['id'] : undefined };
  },
);
console.log(await fastify.listen(address));
