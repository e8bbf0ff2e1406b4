import { formatJson, isExact, parseJson, refuseDeepJson } from '@plant-store/schemas';

/**
 * A body as tRPC's own `JSON.parse` may read it: a fraction that it would round to an integer is
 * null instead. An integer beyond ±(2^53−1) stays a number, which the schema refuses.
 */
export function readableJson(body: string): string {
  if (body === '') return '';
  const isReadable = isExact(body);
  const json = isReadable ? JSON.parse(body) : parseJson(body);
  refuseDeepJson(json, 2); // A batch, and superjson, around each input.
  return isReadable ? body : formatJson(json);
}
