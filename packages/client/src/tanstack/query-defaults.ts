import { parse, stringify } from 'superjson';

/**
 * Turns the key of a query into the text by which TanStack Query finds the query. A key can contain a
 * `bigint`. The order of properties does not matter, and `1n` and `1` are the same id.
 */
export function hashQueryKey(key: unknown): string {
  if (typeof key === 'bigint') return String(key);
  if (Array.isArray(key)) return `[${key.map(hashQueryKey)}]`;
  if (!isPlain(key)) return JSON.stringify(key) ?? 'null';
  const entries = Object.entries(key).filter(([, value]) => value !== undefined);
  const texts = entries.map(([name, value]) => `${JSON.stringify(name)}:${hashQueryKey(value)}`);
  return `{${texts.sort()}}`;
}

/**
 * Default options for the queries of TanStack Query. Keys and responses can contain a `bigint` and a `Date`.
 * A plant that is equal in two responses stays the same object. TanStack Query does not retry, because the
 * client retries.
 */
export const queryDefaults = {
  queryKeyHashFn: hashQueryKey,
  structuralSharing: keepEqual,
  retry: false,
} as const;

/** Returns a value that is equal to `next`, and reuses each object of `last` that has not changed. */
function keepEqual(last: unknown, next: unknown): unknown {
  if (last instanceof Date && next instanceof Date) return +last === +next ? last : next;
  const areLists = Array.isArray(last) && Array.isArray(next);
  if (!areLists && !(isPlain(last) && isPlain(next))) return next;
  const known = new Map(Object.entries(last));
  const kept = Object.entries(next).map(([name, value]) => {
    const both = keepEqual(known.get(name), value);
    return { name, value: both, isSame: known.has(name) && Object.is(both, known.get(name)) };
  });
  if (kept.length === known.size && kept.every(({ isSame }) => isSame)) return last;
  if (areLists) return kept.map(({ value }) => value);
  return Object.fromEntries(kept.map(({ name, value }) => [name, value]));
}

function isPlain(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}

/**
 * Writes the cache of TanStack Query as text, for a persister or for a web page that a server renders. The
 * text is safe inside a `<script>`. `deserialize` restores the same values, including each `bigint` and
 * `Date`.
 */
export function serialize(value: unknown): string {
  return stringify(value).replaceAll('<', '\\u003c');
}

/** Returns the values from a text that `serialize` wrote. */
export function deserialize<Value>(text: string): Value {
  return parse(text);
}
