const maxLength = 40;

/** Matches invisible characters, and all spaces other than the usual space. */
const invisible = /(?! )[\p{Cf}\p{Z}]/gu;

/** Formats an invalid value for a message. */
export function showValue(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  const shown = text
    .slice(0, maxLength)
    .replace(invisible, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return text.length > maxLength ? `${shown}…` : shown;
}
