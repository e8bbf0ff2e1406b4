import * as z from 'zod';
import { HttpError } from '../errors/http-error.ts';

/**
 * Makes a function that reads the parameters of a path or a query, which are text. Where the schema
 * has an integer, a text in plain decimal becomes one; `007`, `+5` and `1e3` stay text, which the
 * schema rejects.
 *
 * @throws HttpError `invalidInput` when a parameter is given more than once
 */
export function textReader(schema: z.ZodType) {
  const integers = integersIn(schema);

  return (parameters: unknown): Record<string, unknown> => {
    const entries = Object.entries(Object(parameters));
    return Object.fromEntries(
      entries.map(([name, value]) => {
        if (typeof value === 'string') return [name, integers.has(name) ? toInteger(value) : value];
        throw new HttpError('invalidInput', `invalid input: ${name} is given more than once`);
      }),
    );
  };
}

/** The names of a schema's properties that are integers in the OpenAPI document. */
function integersIn(schema: z.ZodType): Set<string> {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const names = Object.entries(properties).flatMap(([name, property]) => {
    const { type, override } = property as { type?: string; override?: { type?: string } }; // Our meta.
    return [type, override?.type].includes('integer') ? [name] : [];
  });
  return new Set(names);
}

function toInteger(text: string): bigint | number | string {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return text;
  const integer = Number(text);
  return Number.isSafeInteger(integer) ? integer : BigInt(text);
}
