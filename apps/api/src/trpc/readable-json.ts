import { checkJsonDepth, formatJson, isExact, parseJson } from '@plant-store/schemas';

/** Levels of nesting around an input: the batch, and superjson's `{ "json": … }`. */
const envelopeLevels = 2;

/**
 * Reads a body as tRPC does, with `JSON.parse`. A fraction that `JSON.parse` would round to an integer
 * becomes null. An integer beyond ±(2^53−1) stays a number, which the schema rejects.
 */
export function readJson(body: string): unknown {
  return isExact(body) ? checkDepth(JSON.parse(body)) : JSON.parse(readableJson(body));
}

/** Prepares a body for tRPC, so that `JSON.parse` reads what `readJson` returns. */
export function readableJson(body: string): string {
  if (body === '') return '';
  if (!isExact(body)) return formatJson(checkDepth(parseJson(body)));
  checkDepth(JSON.parse(body));
  return body;
}

function checkDepth(json: unknown): unknown {
  checkJsonDepth(json, envelopeLevels);
  return json;
}
