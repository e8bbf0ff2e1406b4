import Fastify from 'fastify';
import postgres from 'postgres';
import { accessToken, address, databaseUrl } from './environment.ts';

// This server is written by hand for speed. Fastify compiles the JSON schemas. postgres.js pipelines prepared
// statements over its default pool of ten connections (https://github.com/porsager/postgres#usage).
const sql = postgres(databaseUrl);
const fastify = Fastify();

// https://fastify.dev/docs/latest/Reference/Hooks/#respond-to-a-request-from-a-hook
fastify.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${accessToken}`) return reply.code(401).send();
});

// https://fastify.dev/docs/latest/Reference/Validation-and-Serialization/
const object = (properties: object, ...required: string[]) =>
  ({ type: 'object', properties, required }) as const;
const array = (items: object) => ({ type: 'array', items, minItems: 1, maxItems: 1000 });
const text = { type: 'string' };
const integer = { type: 'integer' };
const newPlant = object({ id: integer, name: text, tag: text }, 'id', 'name');
const plant = object({ name: text, tag: text });
const results = { type: 'array', items: object({ id: integer, result: text }) };
// postgres.js reads a bigint as text, and a timestamp as a Date.
const int64 = { type: 'string', pattern: '^-?[0-9]{1,19}$' };
const time = { type: 'string', format: 'date-time' };
const tagOrNull = { type: 'string', nullable: true };
const storedPlant = object({ id: text, name: text, tag: tagOrNull, createdAt: time });
const page = object({ plants: { type: 'array', items: storedPlant }, next: text });
const limit = { type: 'integer', minimum: 1, maximum: 1000, default: 100 };

type NewPlant = { id: number; name: string; tag?: string };

const createSchema = { body: newPlant, response: { 200: plant } };
fastify.post<{ Body: NewPlant }>('/plants', { schema: createSchema }, async ({ body }) => {
  const { id, name, tag = null } = body;
  await sql`insert into plants (id, name, tag) values (${id}, ${name}, ${tag}) on conflict do nothing`;
  return body;
});

const batchSchema = {
  body: object({ plants: array(newPlant) }, 'plants'),
  response: { 200: object({ results }) },
};
fastify.post<{ Body: { plants: NewPlant[] } }>(
  '/plants/batch',
  { schema: batchSchema },
  async ({ body: { plants } }) => {
    const [ids, names] = [plants.map(({ id }) => id), plants.map(({ name }) => name)];
    const tags = plants.map(({ tag = null }) => tag);
    const inserted = await sql`
      insert into plants (id, name, tag)
      select * from unnest(${ids}::bigint[], ${names}::text[], ${tags}::text[])
      on conflict do nothing returning id`;
    const created = new Set(inserted.map(({ id }) => id));
    const resultOf = (id: number) => (created.has(String(id)) ? 'created' : 'exists');
    return { results: ids.map((id) => ({ id, result: resultOf(id) })) };
  },
);

const getSchema = { params: object({ id: int64 }), response: { 200: storedPlant } };
fastify.get<{ Params: { id: string } }>(
  '/plants/:id',
  { schema: getSchema },
  async ({ params: { id } }, reply) => {
    const [found] = await sql`
      select id, name, tag, created_at as "createdAt" from plants where id = ${id}`;
    return found ?? reply.code(404).send();
  },
);

const listSchema = { querystring: object({ after: int64, limit }), response: { 200: page } };
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
