/**
 * Shortens a text of a client for a message or a log line, and adds its length. Without a limit, a client
 * could fill the log, and an expression that reads the text could stop the process.
 */
export function shorten(text: string, maxLength = 200): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength).toWellFormed()}… (${text.length} characters)`;
}
