/**
 * Shortens a text of a client for a message or a log line. Adds the length of the whole text. A long text of
 * a client could fill the log, or block the process by a slow regular expression.
 */
export function shorten(text: string, maxLength = 200): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength).toWellFormed()}… (${text.length} characters)`;
}
