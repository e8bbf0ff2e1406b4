/**
 * Replaces the access tokens in a text that a client sent: it may have put its token in the wrong place,
 * and the text gets into a reply or the log.
 */
export function hideTokens(text: string): string {
  return text.replaceAll(tokens, '…');
}

/** Tokens of the store, and JWTs. */
const tokens = /plant_[\w-]{8,}|eyJ[\w-]*\.[\w-]+\.[\w-]*/g;
