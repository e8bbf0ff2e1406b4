import { checkJsonDepth, formatJson, isExact, parseJson } from '@plant-store/schemas';

/** Levels of nesting around an input: the batch, and superjson's `{ "json": … }`. */
const envelopeLevels = 2;

/**
 * Reads an input as tRPC does, with `JSON.parse`. A fraction that `JSON.parse` would round to an integer
 * becomes null. An integer beyond ±(2^53−1) stays a number, which the schema rejects.
 */
export function readJson(text: string): unknown {
  return isExact(text) ? checkDepth(JSON.parse(text)) : JSON.parse(readableJson(text));
}

/** Prepares an input for tRPC, so that `JSON.parse` reads what `readJson` returns. */
export function readableJson(text: string): string {
  if (text === '') return '';
  if (!isExact(text)) return formatJson(checkDepth(parseJson(text)));
  checkDepth(JSON.parse(text));
  return text;
}

/** Prepares the URL of a query for tRPC in the same way. tRPC itself rejects an input that is not JSON. */
export function readableUrl(url: URL): URL {
  const input = url.searchParams.get('input') ?? '';
  if (isExact(input)) return url;
  try {
    url.searchParams.set('input', readableJson(input));
  } catch {}
  return url;
}

function checkDepth(json: unknown): unknown {
  checkJsonDepth(json, envelopeLevels);
  return json;
}
