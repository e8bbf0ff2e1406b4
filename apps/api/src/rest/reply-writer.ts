import { formatJson } from '@plant-store/schemas';
import type { Schema } from 'fast-json-stringify';
import * as z from 'zod';

/**
 * Makes a function that writes an operation's replies as JSON, a `bigint` as an exact integer.
 *
 * Replies with lists are written by code that is generated from the operation's schema. For a page, it
 * takes a quarter of the time of `formatJson`. The first such reply waits for the generator: to load it
 * takes 40 ms of CPU time, which would delay each start.
 */
export function replyWriter(
  output: z.ZodType = z.unknown(),
): (value: unknown) => string | Promise<string> {
  const schema = listSchema(output);
  if (!schema) return formatJson;
  let generated: ReturnType<typeof generate> | undefined;
  return async (value) => {
    generated ??= generate(schema).catch((error) => {
      generated = undefined; // The process may have had no file descriptor left. The next reply tries again.
      throw error;
    });
    const write = await generated;
    return write(value);
  };
}

async function generate(schema: Schema): Promise<(value: unknown) => string> {
  const { default: generator } = await import('fast-json-stringify');
  return generator(schema);
}

/**
 * The JSON Schema of an output with a list. Undefined when a part of it has no type there: the generated
 * code would write that part by `JSON.stringify`, which throws for a `bigint`.
 */
function listSchema(output: z.ZodType): Schema | undefined {
  let hasList = false;
  let isTyped = true;
  const jsonSchema = z.toJSONSchema(output, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: part }) => {
      Object.assign(part, jsonTypes[zodSchema._zod.def.type], part['override']); // Our metadata.
      hasList ||= part.type === 'array';
      isTyped &&= 'type' in part || '$ref' in part;
    },
  });
  return hasList && isTyped ? (jsonSchema as Schema) : undefined; // zod has its own type of the same.
}

/** How the generated code writes values that zod does not represent in JSON Schema. */
const jsonTypes: Record<string, object> = {
  bigint: { type: 'integer' },
  date: { type: 'string', format: 'date-time' },
};
