// ES2026 JSON.rawJSON, which TypeScript's library does not have yet.
const { rawJSON } = JSON as JSON & { rawJSON(text: string): unknown };

/**
 * Like `JSON.stringify`, but writes a `bigint` as an exact integer, which `parseJson` reads back.
 *
 * A value with a `bigint` needs JSON.rawJSON: Node 22, or a browser of 2025.
 *
 * @param indent spaces for each level; the text has one line by default
 */
export function formatJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, each) => (typeof each === 'bigint' ? rawJSON(String(each)) : each),
    indent,
  );
}
