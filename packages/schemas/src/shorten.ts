/**
 * Shortens a text from a client for a message or a log line. Adds the length of the whole text. A long text
 * could fill the log, or make a regular expression so slow that it blocks the process.
 */
export function shorten(text: string, maxLength = 200): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength).toWellFormed()}… (${text.length} characters)`;
}
