// ES2026 JSON.rawJSON, which TypeScript's library does not have yet.
const { rawJSON } = JSON as JSON & { rawJSON(text: string): unknown };

/** `JSON.stringify` that writes a `bigint` as an exact integer, which `parseJson` reads back. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) =>
    typeof each === 'bigint' ? rawJSON(String(each)) : each,
  );
}
