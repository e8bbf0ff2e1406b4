import type { FastifySchema } from 'fastify';
import * as z from 'zod';

/**
 * Makes the schema from which Fastify generates the code that writes an operation's reply. That code
 * takes a quarter of the time of `formatJson` for a page, and writes a `bigint` exactly, too.
 */
export function replySchema(output: z.ZodType): FastifySchema {
  const jsonSchema = z.toJSONSchema(output, {
    unrepresentable: 'any',
    override: ({ jsonSchema }) => Object.assign(jsonSchema, jsonSchema['override']), // Our metadata.
  });
  return { response: { 200: jsonSchema } };
}
