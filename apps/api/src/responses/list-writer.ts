import { isDeepStrictEqual } from 'node:util';
import type { Schema } from 'fast-json-stringify';
import * as z from 'zod';
import { loadOnce } from './load-once.ts';

export type WriteJson = (value: unknown) => string | Promise<string>;

/**
 * Makes a function that writes an output by code that is generated from its schema, which is faster than
 * `formatJson`. Returns undefined when the output has no list, or a part without a type. The first list
 * waits until the generator is loaded. An earlier load would delay each start.
 *
 * @param bigint how a `bigint` is written: as an exact integer, or as a string
 */
export function listWriter(
  output: z.ZodType = z.unknown(),
  bigint: 'integer' | 'string',
): WriteJson | undefined {
  const schema = listSchema(output, { bigint: { type: bigint }, date: dateTime });
  if (!schema) return undefined;
  const generated = loadOnce(async () => (await import('fast-json-stringify')).default(schema));
  return async (value) => (await generated())(value);
}

/** Writes the text of each object only once: many requests that wait for changes get the same page. */
export function writeOnce<Value extends object, Text>(
  write: (value: Value) => Text,
): (value: Value) => Text {
  const texts = new WeakMap<Value, Text>();

  return (value) => {
    const text = texts.get(value) ?? write(value);
    texts.set(value, text);
    return text;
  };
}

/**
 * Replaces a choice between objects by one object that has the properties of all of them. For a choice, the
 * generated code would check each value against each object.
 */
function mergeObjects(part: z.core.JSONSchema.BaseSchema): void {
  if (!part.anyOf?.every(({ type }) => type === 'object')) return;
  const given = part.anyOf.flatMap((choice) => Object.entries(choice.properties ?? {}));
  const properties = Object.fromEntries(given);
  if (given.some(([name, property]) => !isDeepStrictEqual(property, properties[name]))) return;
  Object.assign(part, { type: 'object', properties });
  delete part.anyOf;
}

const dateTime = { type: 'string', format: 'date-time' };

/**
 * Returns the JSON Schema of an output with a list. Returns undefined when a part of the output has no
 * type. The generated code would write that part by `JSON.stringify`, which throws for a `bigint`.
 */
function listSchema(output: z.ZodType, types: Record<string, object>): Schema | undefined {
  let hasList = false;
  let isTyped = true;
  const jsonSchema = z.toJSONSchema(output, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: part }) => {
      Object.assign(part, part['override'], types[zodSchema._zod.def.type]); // `override` is our metadata.
      delete part['override']; // An optional schema inherits the parts of its inner schema.
      delete part.required; // The generated code would write these properties first.
      mergeObjects(part);
      hasList ||= part.type === 'array';
      isTyped &&= 'type' in part || '$ref' in part;
    },
  });
  return hasList && isTyped ? (jsonSchema as Schema) : undefined; // zod's type differs.
}
