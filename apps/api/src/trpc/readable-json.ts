import { checkJsonDepth, formatJson, isExact, parseJson } from '@plant-store/schemas';

/** Levels of nesting around an input: the batch, and superjson's `{ "json": … }`. */
const envelopeLevels = 2;

/**
 * Prepares a body for tRPC, which reads it with `JSON.parse`. A fraction that `JSON.parse` would
 * round to an integer becomes null. An integer beyond ±(2^53−1) stays a number, which the schema
 * rejects.
 */
export function readableJson(body: string): string {
  if (body === '') return '';
  const isReadable = isExact(body);
  const json = isReadable ? JSON.parse(body) : parseJson(body);
  checkJsonDepth(json, envelopeLevels);
  return isReadable ? body : formatJson(json);
}
