/** Texts as an array in Postgres's text format (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
export function arrayText(texts: readonly (string | undefined)[]): string {
  return `{${texts.map(element).join()}}`;
}

function element(text: string | undefined): string {
  if (text === undefined) return 'NULL';
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
}
