// The types of TypeScript lack JSON.rawJSON of ES2026.
const { rawJSON } = JSON as JSON & { rawJSON(text: string): unknown };

/**
 * Works like `JSON.stringify`, but writes a `bigint` as an exact integer, which `parseJson` reads back.
 *
 * A value with a `bigint` needs JSON.rawJSON, which Node 22 and browsers of 2025 have.
 *
 * @param indent the number of spaces for each level. By default, the text has one line.
 */
export function formatJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, each) => (typeof each === 'bigint' ? rawJSON(String(each)) : each),
    indent,
  );
}
