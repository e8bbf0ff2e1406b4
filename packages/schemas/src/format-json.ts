// ES2026 JSON.rawJSON, which TypeScript's library does not have yet.
const { rawJSON } = JSON as JSON & { rawJSON(text: string): unknown };

/** `JSON.stringify` that writes a `bigint` as the integer it is; `parseJson` reads it back exactly. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) =>
    typeof each === 'bigint' ? rawJSON(String(each)) : each,
  );
}
