import { invalidInput } from '@plant-store/core/internal';
import { IdFromText, IntegerText } from '@plant-store/schemas';
import * as z from 'zod';

/**
 * Makes a function that reads the text parameters of a path or a query. An integer must be in plain
 * decimal: `007`, `+5` and `1e3` are not valid. An int64 becomes a `bigint`.
 *
 * @throws PlantStoreError `invalidInput`
 */
export function textReader(schema: z.ZodType): (parameters: unknown) => Record<string, unknown> {
  const parser = z.object(integersIn(schema)).catchall(once);

  return (parameters) => {
    const { data, error } = parser.safeParse(parameters);
    if (error) throw invalidInput(error);
    return { ...Object(parameters), ...data }; // zod would remove `__proto__` from the parameters.
  };
}

const once = z.string({ error: 'is given more than once' });

function integersIn(schema: z.ZodType): Record<string, z.ZodType> {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const texts = Object.entries(properties).flatMap(([name, property]) => {
    const { override, ...own } = property as JsonSchema & { override?: JsonSchema }; // Our metadata.
    const { type, format } = override ?? own;
    if (type !== 'integer') return [];
    const integer = format === 'int64' ? IdFromText : IntegerText.transform(Number);
    return [[name, once.pipe(integer).optional()]];
  });
  return Object.fromEntries(texts);
}

type JsonSchema = { type?: string; format?: string };
