/**
 * Works like `JSON.stringify`, but writes a `bigint` as an exact integer, which `parseJson` reads back.
 *
 * @param indent the number of spaces for each level. By default, the text has one line.
 */
export function formatJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(
    value,
    (_key, each) => (typeof each === 'bigint' ? integerForJson(each) : each),
    indent,
  );
  return rawJson() ? json : withIntegers(json);
}

/** Returns a value that `JSON.stringify` writes exactly, or a text that `withIntegers` replaces. */
export function integerForJson(integer: bigint): unknown {
  return rawJson()?.(String(integer)) ?? `\0${integer}`;
}

/** JSON.rawJSON of ES2026. Node 20 and the types of TypeScript do not have this function. */
export function rawJson() {
  return (JSON as JSON & { rawJSON?(text: string): unknown }).rawJSON;
}

/** Replaces each text that `integerForJson` has returned by the digits of the integer. */
export function withIntegers(json: string): string {
  return json.replaceAll(markedInteger, '$1');
}

/** Matches a text of U+0000 and digits. Plants cannot contain U+0000, so no other text matches. */
const markedInteger = /"\\u0000(-?\d+)"/g;
