const maxLength = 40;

/** Shows an invalid id in a message. */
export function showId(id: unknown): string {
  const text = typeof id === 'string' ? JSON.stringify(id) : String(id);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
