// ES2026 JSON.rawJSON, which TypeScript's library does not have yet.
const { rawJSON } = JSON as JSON & { rawJSON(text: string): unknown };

/** Like `JSON.stringify`, but writes a `bigint` as an exact integer, which `parseJson` reads back. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, (_key, part) =>
    typeof part === 'bigint' ? rawJSON(String(part)) : part,
  );
}
