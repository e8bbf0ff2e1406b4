import type { SuperJSONResult } from 'superjson';
import type * as z from 'zod';
import { listWriter, type WriteJson } from '../../responses/list-writer.ts';

/**
 * Makes a function that writes a procedure's output in superjson's format. The function writes an output
 * with a list by its schema, because superjson visits every value of a page, which is slow. The bytes are
 * the same as superjson's, but without superjson's notes about identical objects.
 */
export function resultWriter(
  output: z.ZodType | undefined,
  serialize: (value: unknown) => SuperJSONResult,
): WriteJson {
  const writeJson = listWriter(output, 'string');
  if (!writeJson) return (value) => JSON.stringify(serialize(value));
  return async (value) => {
    const json = await writeJson(value);
    const types = typesIn(value, start);
    return types === ''
      ? `{"json":${json}}`
      : `{"json":${json},"meta":{"values":{${types.slice(1)}},"v":1}}`;
  };
}

/** The start of each path. */
const start = ',"';

/**
 * Writes the types that JSON does not have, each after a comma: `,"plants.0.id":["bigint"]`. Outputs with
 * a list have no other such types, because `listWriter` does not write them.
 */
function typesIn(value: unknown, path: string): string {
  if (typeof value === 'bigint') return `${path}":["bigint"]`;
  if (value instanceof Date) return `${path}":["Date"]`;
  if (typeof value !== 'object' || value === null) return '';
  const prefix = path === start ? path : `${path}.`;
  let types = '';
  for (const [key, each] of Object.entries(value)) types += typesIn(each, prefix + textOf(key));
  return types;
}

/** superjson escapes dots and backslashes. Then JSON escapes the result. */
function textOf(key: string): string {
  if (/^\w+$/.test(key)) return key;
  return JSON.stringify(key.replaceAll(/[.\\]/g, '\\$&')).slice(1, -1);
}
