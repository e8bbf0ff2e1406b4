import type { FastifySchema } from 'fastify';
import * as z from 'zod';

/**
 * Makes the schema from which Fastify generates the code that writes an operation's reply. That code
 * takes a quarter of the time of `formatJson` for a page, and writes a `bigint` exactly, too.
 *
 * Returns undefined when a part of the output has no type in JSON Schema. Fastify would write that part
 * by `JSON.stringify`, which throws for a `bigint`.
 */
export function replySchema(output: z.ZodType = z.unknown()): FastifySchema | undefined {
  let isTyped = true;
  const jsonSchema = z.toJSONSchema(output, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: part }) => {
      Object.assign(part, jsonTypes[zodSchema._zod.def.type], part['override']); // Our metadata.
      isTyped &&= 'type' in part || '$ref' in part;
    },
  });
  return isTyped ? { response: { 200: jsonSchema } } : undefined;
}

/** How Fastify writes values that zod does not represent in JSON Schema. */
const jsonTypes: Record<string, object> = {
  bigint: { type: 'integer' },
  date: { type: 'string', format: 'date-time' },
};
