import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import * as z from 'zod';

/**
 * Makes a schema for the SDK. The JSON Schema has what the contract's schemas say for OpenAPI in `override`,
 * such as a pattern that needs no flags. Even outputs are open for properties of later versions.
 */
export function toolSchema<Schema extends z.ZodObject>(
  schema: Schema,
): StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>> {
  const toJsonSchema = () =>
    z.toJSONSchema(schema, {
      io: 'input',
      override({ jsonSchema }) {
        Object.assign(jsonSchema, jsonSchema['override']);
        delete jsonSchema['override'];
      },
    });
  const jsonSchema = { input: toJsonSchema, output: toJsonSchema };
  return { '~standard': { ...schema['~standard'], jsonSchema } };
}
