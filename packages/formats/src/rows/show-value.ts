const maxLength = 40;

/** Shows an invalid value in a message. */
export function showValue(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
