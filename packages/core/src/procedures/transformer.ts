import { refuseDeepJson } from '@plant-store/schemas';
import superjson from 'superjson';
import { PlantStoreError } from '../plant-store-error.ts';

/**
 * superjson as tRPC's clients speak it, with a reader of our own for what they send.
 *
 * superjson trusts the types that a payload claims: `BigInt(true)`, `Number("5")` and
 * `new Float64Array(1e9)` are a client's to call. Here a claim only counts where the value is what
 * superjson itself writes for it, and only for the types that inputs have.
 */
export const transformer = {
  input: { serialize: superjson.serialize, deserialize },
  output: superjson,
};

/** Stands for a value whose claimed type is not read; every schema refuses it. */
const unreadable = Symbol('unreadable');

const readers: Record<string, (value: unknown) => unknown> = {
  bigint: (value) =>
    typeof value === 'string' && /^(0|-?[1-9]\d{0,18})$/.test(value) ? BigInt(value) : unreadable,
  number: (value) => (value === '-0' ? 0 : unreadable),
  undefined: (value) => (value === null ? undefined : unreadable),
};

function deserialize(payload: unknown): unknown {
  if (!isRecord(payload) || !Object.hasOwn(payload, 'json')) {
    throw new PlantStoreError('invalidInput', 'invalid input: it must be superjson, {"json": …}');
  }
  const { json, meta } = payload;
  refuseDeepJson(json);
  const claims = isRecord(meta) ? meta['values'] : undefined;
  if (Array.isArray(claims)) return read(json, claims);
  if (isRecord(claims)) {
    for (const [path, claim] of Object.entries(claims)) apply(json, path, claim);
  }
  return json;
}

/** Reads the value at a path in its place. */
function apply(json: unknown, path: string, claim: unknown): void {
  const keys = keysOf(path);
  const last = keys.pop() ?? '';
  let holder = json;
  for (const key of keys) holder = isRecord(holder) && Object.hasOwn(holder, key) && holder[key];
  if (isRecord(holder) && Object.hasOwn(holder, last)) holder[last] = read(holder[last], claim);
}

/** The keys of a path such as `a.b`, where a dot or a backslash within a key is escaped. */
function keysOf(path: string): string[] {
  const keys: string[] = [];
  for (const [, key = '', dot] of path.matchAll(/((?:\\.|[^.\\])*)(\.|$)/g)) {
    keys.push(key.replaceAll(/\\(.)/g, '$1'));
    if (!dot) break;
  }
  return keys;
}

function read(value: unknown, claim: unknown): unknown {
  const type = Array.isArray(claim) ? claim[0] : claim;
  const reader = typeof type === 'string' && Object.hasOwn(readers, type) && readers[type];
  return reader ? reader(value) : unreadable;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
