import superjson from 'superjson';
import { invalidInput } from '../../plant-store-error.ts';

/**
 * The tRPC transformer: superjson with a stricter deserializer for inputs.
 *
 * The `meta` of a superjson payload claims types for the values of the payload. The usual deserializer trusts
 * these claims, so a client could make the server run `new Float64Array(1e9)`. The deserializer below accepts
 * only the types of inputs, and only the values that superjson itself writes for such a type.
 */
export const transformer = {
  input: { serialize: superjson.serialize, deserialize },
  output: superjson,
};

function deserialize(payload: unknown): unknown {
  if (!isRecord(payload) || !Object.hasOwn(payload, 'json')) {
    throw invalidInput('it must be superjson, {"json": …}');
  }
  const { json, meta } = payload;
  const claims = isRecord(meta) ? meta['values'] : undefined;
  if (Array.isArray(claims)) return read(json, claims);
  // `for … in` takes less time than `Object.entries`.
  if (isRecord(claims)) for (const path in claims) apply(json, path, claims[path]);
  return json;
}

/** The maximum number of keys in a path. Inputs of the procedures have at most three levels. */
const maxLevels = 10;

/**
 * Replaces the value at a path such as `a.b` by a value of the claimed type. In a key, superjson escapes each
 * dot and each backslash with a backslash. No input has a key with these characters, so a path with a
 * backslash changes nothing.
 */
function apply(json: unknown, path: string, claim: unknown): void {
  const keys = path.split('.', maxLevels + 1);
  if (keys.length > maxLevels) throw invalidInput(`a path in meta has over ${maxLevels} keys`);
  const last = keys.pop() ?? '';
  let parent = json;
  for (const key of keys) parent = isRecord(parent) && Object.hasOwn(parent, key) && parent[key];
  if (isRecord(parent) && Object.hasOwn(parent, last)) parent[last] = read(parent[last], claim);
}

/** `read` returns this symbol for a value that it does not accept. Every schema rejects the symbol. */
const unsupported = Symbol('unsupported');

function read(value: unknown, claim: unknown): unknown {
  const isText = typeof value === 'string';
  switch (Array.isArray(claim) ? claim[0] : claim) {
    case 'bigint':
      return isText && /^(0|-?[1-9]\d{0,18})$/.test(value) ? BigInt(value) : unsupported;
    case 'number':
      return value === '-0' ? 0 : unsupported;
    case 'undefined':
      return value === null ? undefined : unsupported;
    default:
      return unsupported;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
